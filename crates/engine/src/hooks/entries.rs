//! Finds Convoke's entries in a settings file, and removes them from its text.

use convoke_domain::client::Client;

use super::command::{calls_us, is_ours};
use super::document::{Item, Node};
use super::splice::{Edit, apply, take_out as take_items_out};
use super::{FormerFile, HOOKS, SettingsError, VERSION, object, wiring};
use crate::client::SettingsForm;

/// Returns Convoke's commands, each with its event.
pub(super) fn ours(root: &Node, client: Client) -> Vec<(&str, &str)> {
    let found = commands(root).into_iter();
    found.filter(|(_, command)| is_our_line(command, client)).collect()
}

/// Returns the commands that call Convoke, and are not as it writes them.
pub(super) fn of_user(root: &Node, client: Client) -> Vec<&str> {
    let found = commands(root).into_iter().map(|(_, command)| command);
    found.filter(|line| calls_us(line, client) && !is_our_line(line, client)).collect()
}

/// Returns all commands, each with its event.
fn commands(root: &Node) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for event in root.members(HOOKS).flat_map(Node::items) {
        let name = event.key.as_deref().unwrap_or_default();
        for item in event.value.items() {
            let nested = item.value.members(HOOKS).flat_map(Node::items);
            let commands = std::iter::once(item).chain(nested).filter_map(command);
            found.extend(commands.map(|command| (name, command)));
        }
    }
    found
}

fn command(entry: &Item) -> Option<&str> {
    entry.value.member("command")?.text()
}

fn is_our_line(command: &str, client: Client) -> bool {
    wiring(client).is_ok_and(|hooks| is_ours(command, client, hooks.events))
}

fn our_command(entry: &Item, client: Client) -> Option<&str> {
    command(entry).filter(|command| is_our_line(command, client))
}

/// A file before Convoke's entries.
struct Before<'a> {
    text: &'a str,
    root: Option<Node>,
}

/// Removes Convoke's entries from a text, and containers that become empty, unless they were empty
/// before. Also returns the remaining object if nothing is left in it.
pub(super) fn take_out(
    text: &str,
    former: FormerFile<'_>,
    client: Client,
) -> Result<(String, Option<Node>), SettingsError> {
    let Some(root) = object(text)? else { return Ok((text.to_owned(), None)) };
    if ours(&root, client).is_empty() {
        return Ok((text.to_owned(), None));
    }
    let before = match former {
        FormerFile::Unknown => None,
        FormerFile::Absent => Some(""),
        FormerFile::Text(text) => Some(text),
    };
    let before = before.and_then(|text| Some(Before { text, root: object(text).ok()? }));
    let before = before.as_ref();
    let edits = Removal { text, client, before }.of_root(&root);
    let mut text = apply(text, edits);
    let has_version = matches!(wiring(client)?.form, SettingsForm::Entries);
    if let Some(root) = object(&text)?.filter(|_| has_version) {
        let edits = Removal { text: &text, client, before }.of_version(&root);
        text = apply(&text, edits);
    }
    let bare_root = object(&text)?.filter(|root| is_blank(&text, root));
    Ok((text, bare_root))
}

/// Removes members of a section of the file, as [`take_out`] removes entries.
pub(super) fn take_members_out(
    text: &str,
    former: Option<&str>,
    client: Client,
    section: &str,
    is_ours: impl Fn(&Item) -> bool,
) -> Result<String, SettingsError> {
    let Some(root) = object(text)? else { return Ok(text.to_owned()) };
    let before = former.and_then(|text| Some(Before { text, root: object(text).ok()? }));
    let removal = Removal { text, client, before: before.as_ref() };
    let was = removal.before.and_then(|before| before.root.as_ref());
    let past = was.map_or(Past::New, Past::Known);
    let fate = |(index, item): (usize, &Item)| {
        if item.key.as_deref() != Some(section) {
            return Fate::Stays;
        }
        let is_hidden = is_hidden(root.items(), index);
        let past = if is_hidden { Past::Hidden } else { past.member(Some(section)) };
        let members = item.value.items().iter();
        let fates = members.map(|member| if is_ours(member) { Fate::Goes } else { Fate::Stays });
        removal.of_container(&item.value, fates.collect(), past)
    };
    let fates: Vec<_> = root.items().iter().enumerate().map(fate).collect();
    if fates.iter().all(|fate| matches!(fate, Fate::Stays)) {
        return Ok(text.to_owned());
    }
    Ok(apply(text, removal.of_root_items(&root, fates)))
}

/// Tells whether it holds nothing, not even a comment.
pub(super) fn is_blank(text: &str, node: &Node) -> bool {
    text[node.inside()].trim().is_empty()
}

/// What happens to one item.
enum Fate {
    Stays,
    Goes,
    Changes(Vec<Edit>),
}

/// The state of an object or an array before Convoke's entries.
#[derive(Clone, Copy)]
enum Past<'a> {
    /// It did not exist, as far as is known, so it is removed when it is empty.
    New,
    /// It was there.
    Known(&'a Node),
    /// A later member of the same key hides it, so Convoke does not tidy it up.
    Hidden,
}

impl Past<'_> {
    fn member(self, key: Option<&str>) -> Self {
        match self {
            Self::Known(node) => {
                key.and_then(|key| node.member(key)).map_or(Self::New, Self::Known)
            }
            Self::New | Self::Hidden => self,
        }
    }
}

/// Tells whether a later item has the same key.
fn is_hidden(items: &[Item], index: usize) -> bool {
    let key = &items[index].key;
    items[index + 1..].iter().any(|later| later.key == *key)
}

struct Removal<'a> {
    text: &'a str,
    client: Client,
    before: Option<&'a Before<'a>>,
}

impl Removal<'_> {
    fn of_root(&self, root: &Node) -> Vec<Edit> {
        let was = self.before.and_then(|before| before.root.as_ref());
        let past = was.map_or(Past::New, Past::Known);
        let fate = |(index, item): (usize, &Item)| match item.key.as_deref() {
            Some(HOOKS) if is_hidden(root.items(), index) => {
                self.of_hooks(&item.value, Past::Hidden)
            }
            Some(HOOKS) => self.of_hooks(&item.value, past.member(Some(HOOKS))),
            Some(_) | None => Fate::Stays,
        };
        let fates = root.items().iter().enumerate().map(fate).collect();
        self.of_root_items(root, fates)
    }

    /// Removes the version that Cursor needs, if Convoke wrote it and no other hook was added
    /// since.
    fn of_version(&self, root: &Node) -> Vec<Edit> {
        let Some(before) = self.before else { return Vec::new() };
        let was = before.root.as_ref();
        let part = |text: &str, root: Option<&Node>, key| {
            root.and_then(|root| text.get(root.member(key)?.span.clone())).map(str::to_owned)
        };
        let is_ours = part(self.text, Some(root), VERSION).as_deref() == Some("1")
            && part(before.text, was, VERSION).is_none()
            && part(self.text, Some(root), HOOKS) == part(before.text, was, HOOKS);
        let fate = |item: &Item| match item.key.as_deref() {
            Some(VERSION) if is_ours => Fate::Goes,
            Some(_) | None => Fate::Stays,
        };
        self.of_root_items(root, root.items().iter().map(fate).collect())
    }

    /// A file keeps its root, even if it becomes empty.
    fn of_root_items(&self, root: &Node, fates: Vec<Fate>) -> Vec<Edit> {
        let was = self.before.and_then(|before| before.root.as_ref());
        self.of_items(root, fates, was.map_or(Past::Hidden, Past::Known)).unwrap_or_default()
    }

    fn of_hooks(&self, hooks: &Node, past: Past<'_>) -> Fate {
        let fates = hooks.items().iter().enumerate().map(|(index, event)| {
            // A file may have thousands of events; to look each of them up would take too long.
            if !self.has_ours(&event.value) {
                return Fate::Stays;
            }
            let past = if is_hidden(hooks.items(), index) {
                Past::Hidden
            } else {
                past.member(event.key.as_deref())
            };
            self.of_list(&event.value, past)
        });
        self.of_container(hooks, fates.collect(), past)
    }

    /// Tells whether an event's list has entries of Convoke's, directly or in groups.
    fn has_ours(&self, list: &Node) -> bool {
        let is_ours = |entry: &Item| our_command(entry, self.client).is_some();
        let has_ours = |item: &Item| {
            let entries = item.value.member(HOOKS).map_or(&[][..], Node::items);
            is_ours(item) || entries.iter().any(is_ours)
        };
        list.items().iter().any(has_ours)
    }

    fn of_list(&self, list: &Node, past: Past<'_>) -> Fate {
        let fates = list.items().iter().map(|item| {
            if our_command(item, self.client).is_some() {
                return Fate::Goes;
            }
            let Some(entries) = item.value.member(HOOKS) else { return Fate::Stays };
            let is_out = entries.items().iter();
            let is_out: Vec<_> =
                is_out.map(|entry| our_command(entry, self.client).is_some()).collect();
            match (is_out.contains(&true), is_out.contains(&false)) {
                (false, _) => Fate::Stays,
                // A group is there for its entries, unless its author wrote a comment between them.
                (true, false) if !self.has_comments(entries) && !self.has_comments(&item.value) => {
                    Fate::Goes
                }
                (true, _) => Fate::Changes(take_items_out(self.text, entries, &is_out)),
            }
        });
        self.of_container(list, fates.collect(), past)
    }

    /// Decides about an object or an array by the decisions on its items, and by its earlier state.
    fn of_container(&self, node: &Node, fates: Vec<Fate>, past: Past<'_>) -> Fate {
        if fates.iter().all(|fate| matches!(fate, Fate::Stays)) {
            return Fate::Stays;
        }
        self.of_items(node, fates, past).map_or(Fate::Goes, Fate::Changes)
    }

    /// Returns the edits inside; `None` if no new item would be left.
    fn of_items(&self, node: &Node, fates: Vec<Fate>, past: Past<'_>) -> Option<Vec<Edit>> {
        let is_out: Vec<_> = fates.iter().map(|fate| matches!(fate, Fate::Goes)).collect();
        let is_emptied = !is_out.is_empty() && !is_out.contains(&false);
        if is_emptied && !self.has_comments(node) {
            let blanks = match past {
                Past::New => return None,
                Past::Known(was) if was.items().is_empty() => {
                    self.before.and_then(|before| before.text.get(was.inside()))
                }
                Past::Known(_) | Past::Hidden => None,
            };
            return Some(vec![(node.inside(), blanks.unwrap_or_default().to_owned())]);
        }
        let inner = fates.into_iter().flat_map(|fate| match fate {
            Fate::Changes(edits) => edits,
            Fate::Stays | Fate::Goes => Vec::new(),
        });
        Some(take_items_out(self.text, node, &is_out).into_iter().chain(inner).collect())
    }

    /// Tells whether there is a comment between the items.
    fn has_comments(&self, node: &Node) -> bool {
        let mut at = node.inside().start;
        let places = node.items().iter().map(|item| (item.start, item.value.span.end));
        for (start, end) in places.chain([(node.inside().end, node.inside().end)]) {
            let between = self.text.get(at..start).unwrap_or_default();
            if !between.trim_matches([' ', '\t', '\n', '\r', ',']).is_empty() {
                return true;
            }
            at = end;
        }
        false
    }
}
