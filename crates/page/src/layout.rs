//! The shell around every page: head, navigation and help.

use maud::{DOCTYPE, Markup, html};

/// The style sheet of all pages.
pub const STYLE: &str = include_str!("../assets/style.css");

/// Where the server has the style sheet.
pub const STYLE_PATH: &str = "/assets/style.css";

/// Where the server has the script.
pub const SCRIPT_PATH: &str = "/assets/script.js";

/// A page of the dashboard, in the order of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// What runs.
    Now,
    /// Designs, their results, and comparisons.
    Runs,
    /// Reviews, rounds and receipts.
    Dispatch,
    /// The tree of tasks.
    Tasks,
    /// Conversations and wake-ups.
    Messages,
    /// Tokens and money.
    Usage,
    /// The store and its health.
    Store,
    /// Results of a search; no entry of the navigation.
    Search,
}

impl Section {
    /// The entries of the navigation.
    pub const NAVIGATION: [Self; 7] = [
        Self::Now,
        Self::Runs,
        Self::Dispatch,
        Self::Tasks,
        Self::Messages,
        Self::Usage,
        Self::Store,
    ];

    /// Returns the section's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Now => "Now",
            Self::Runs => "Runs",
            Self::Dispatch => "Dispatch",
            Self::Tasks => "Tasks",
            Self::Messages => "Messages",
            Self::Usage => "Usage",
            Self::Store => "Store",
            Self::Search => "Search",
        }
    }

    /// Returns the section's path on the server.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Now => "/",
            Self::Runs => "/runs",
            Self::Dispatch => "/dispatch",
            Self::Tasks => "/tasks",
            Self::Messages => "/messages",
            Self::Usage => "/usage",
            Self::Store => "/store",
            Self::Search => "/search",
        }
    }

    /// Returns the key that opens the section after `g`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Now => "n",
            Self::Runs => "r",
            Self::Dispatch => "d",
            Self::Tasks => "t",
            Self::Messages => "m",
            Self::Usage => "u",
            Self::Store => "s",
            Self::Search => "/",
        }
    }
}

/// Whether the pages offer changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The pages have buttons and forms.
    Full,
    /// The pages only show.
    ReadOnly,
}

/// What the shell of every page shows.
#[derive(Debug, Clone)]
pub struct PageFrame {
    /// The page's section.
    pub section: Section,
    /// The page's title, without the product's name.
    pub title: String,
    /// The project's name.
    pub project: String,
    /// The checked-out branch.
    pub branch: String,
    /// Whether the pages offer changes.
    pub access: Access,
    /// The token that every form sends along.
    pub csrf: String,
    /// The path of the page's events, if it lives.
    pub live: Option<String>,
    /// A sentence about the change that led here.
    pub notice: Option<String>,
}

/// Returns a page of the dashboard.
pub fn page(frame: &PageFrame, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (meta(&frame.title))
                link rel="stylesheet" href=(STYLE_PATH);
                script src=(SCRIPT_PATH) defer {}
            }
            body data-live=[frame.live.as_deref()] {
                a.skip href="#content" { "Skip to content" }
                header.top {
                    a.brand href="/" { "Convoke" }
                    p.place {
                        span.project { (frame.project) }
                        " "
                        span.branch { (frame.branch) }
                        @if frame.access == Access::ReadOnly {
                            " "
                            span.tag { "read-only" }
                        }
                    }
                    form.search role="search" action="/search" method="get" {
                        label.hidden for="q" { "Search runs, findings, tasks and messages" }
                        input #q type="search" name="q" placeholder="Search  /" maxlength="200";
                    }
                }
                nav.sections aria-label="Sections" {
                    ul {
                        @for section in Section::NAVIGATION {
                            li {
                                a href=(section.path())
                                    data-key=(section.key())
                                    aria-current=[(section == frame.section).then_some("page")]
                                    { (section.name()) }
                            }
                        }
                    }
                    button #help-button type="button" hidden { "Keys " kbd { "?" } }
                }
                main #content tabindex="-1" {
                    @if let Some(notice) = &frame.notice {
                        p.notice role="status" { (notice) }
                    }
                    (content)
                }
                @if frame.live.is_some() { p #live-state.live-state role="status" {} }
                (help())
            }
        }
    }
}

/// Returns a page for a browser that is not logged in: it shows nothing of the project.
pub fn outside(title: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (meta(title))
                link rel="stylesheet" href=(STYLE_PATH);
            }
            body.standalone {
                main #content { (content) }
            }
        }
    }
}

fn meta(title: &str) -> Markup {
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        meta name="referrer" content="same-origin";
        title { (title) " · Convoke" }
    }
}

fn help() -> Markup {
    let keys = [
        ("/", "search"),
        ("j", "next row"),
        ("k", "row before"),
        ("J", "move the task down"),
        ("K", "move the task up"),
        ("Enter", "open the row"),
        ("?", "show these keys"),
        ("Esc", "close"),
    ];
    html! {
        dialog #help aria-labelledby="help-title" {
            h2 #help-title { "Keys" }
            dl.keys {
                @for (key, effect) in keys {
                    dt { kbd { (key) } }
                    dd { (effect) }
                }
                @for section in Section::NAVIGATION {
                    dt { kbd { "g" } " " kbd { (section.key()) } }
                    dd { (section.name()) }
                }
            }
            form method="dialog" { button { "Close" } }
        }
    }
}
