//! The page Store: where the store is, how large, what it holds, and whether it is sound.

use convoke_service::store_page::StorePageReport;
use convoke_service::store_transfer::StoreCheckReport;
use maud::{Markup, html};

use crate::components::{bytes, csrf_field, number, time};
use crate::layout::Access;

/// Returns the page; `check` is the result of a check, if one was wanted.
pub fn store_page(
    report: &StorePageReport,
    check: Option<&StoreCheckReport>,
    access: Access,
    csrf: &str,
) -> Markup {
    html! {
        h1 { "Store" }
        dl.facts {
            dt { "Path" } dd.mono { (report.path) }
            dt { "Size" } dd { @match report.bytes { Some(size) => (bytes(size)), None => "unknown: it is no file" } }
            dt { "Runs of this project" } dd { (number(report.runs as u64)) }
            dt { "Health" } dd { (health(check)) }
        }
        @if check.is_none() {
            form.row action="/store" method="get" {
                button name="check" value="yes" { "Check the store" }
                span.soft { "reads all of it, which can take seconds" }
            }
        }
        (projects(report))
        h2 { "Branches of this project" }
        @if report.branches.is_empty() { p.soft { "No branch has tasks." } } @else {
            ul { @for branch in &report.branches {
                li { (branch.branch) ": " (number(u64::from(branch.tasks))) " tasks" }
            } }
        }
        h2 { "Backups" }
        @if report.backups.is_empty() { p.soft { "No backup was made here." } } @else {
            ul { @for backup in &report.backups { li { span.mono { (backup.path) } ", " (bytes(backup.bytes)) } } }
        }
        @if access == Access::Full {
            form.row action="/store/backup" method="post" {
                (csrf_field(csrf))
                button { "Back up now" }
            }
        }
        (restoring(report))
    }
}

/// Says how to bring back a backup: what is beside an older file would damage it.
fn restoring(report: &StorePageReport) -> Markup {
    let beside = |ending: &str| html! { code { (report.path) (ending) } };
    html! {
        h3 { "Restore a backup" }
        @if report.bytes.is_some() {
            ol {
                li { "End every Convoke process, this dashboard and your agents' clients too." }
                li { "Remove " (beside("-wal")) ", " (beside("-shm")) " and " (beside("-search"))
                    ", if they are there: they belong to the present store." }
                li { "Copy the backup to " code { (report.path) } "." }
                li { "Run " code { "convoke store check" } "." }
            }
        } @else {
            p { "The store is on a server. Fill an empty database:" }
            ul {
                li { "from a backup with " code { "CONVOKE_STORE=BACKUP.db convoke store move --to postgres://USER@HOST/DATABASE" } }
                li { "from an export with " code { "CONVOKE_STORE=postgres://USER@HOST/DATABASE convoke store import FILE" } }
            }
            p { "Then name that database in " code { "CONVOKE_STORE" } " or your settings." }
        }
    }
}

fn health(check: Option<&StoreCheckReport>) -> Markup {
    html! {
        @match check {
            None => "not checked",
            Some(check) if check.sound => span.tag.good { "sound" },
            Some(check) => {
                span.tag.bad { "damaged" }
                ul { @for problem in &check.problems { li { (problem) } } }
                @if let Some(hint) = check.hint() { p { (hint) } }
            }
        }
    }
}

fn projects(report: &StorePageReport) -> Markup {
    html! {
        h2 { "Projects" }
        div.scroll tabindex="0" role="group" aria-label="Table" { table {
            thead { tr { th scope="col" { "Project" } th scope="col" { "Folder" } th.number scope="col" { "Tasks" }
                th.number scope="col" { "Open" } th scope="col" { "Last used" } } }
            tbody { @for project in &report.projects { tr data-row {
                th scope="row" { (project.name) @if project.here { " " span.tag.info { "here" } } }
                td { (project.folder) @if !project.exists { " " span.tag.warn { "gone" } } }
                td.number { (number(u64::from(project.tasks))) } td.number { (number(u64::from(project.open_tasks))) }
                td { @match &project.last_used { Some(at) => (time(at)), None => "unknown" } }
            } } }
        } }
    }
}

#[cfg(test)]
mod tests {
    use convoke_service::store_page::StorePageReport;

    use super::*;

    fn shown(path: &str, bytes: Option<u64>) -> String {
        let report = StorePageReport {
            path: path.to_owned(),
            bytes,
            projects: Vec::new(),
            branches: Vec::new(),
            runs: 0,
            backups: Vec::new(),
        };
        store_page(&report, None, Access::Full, "token").into_string()
    }

    #[test]
    fn the_way_to_restore_a_backup_fits_the_kind_of_store() {
        let file = shown("/s/<b>.db", Some(10));
        for words in ["<b>.db-wal", "<b>.db-shm", "<b>.db-search"] {
            let escaped = words.replace("<b>", "&lt;b&gt;");
            assert!(file.contains(&format!("<code>/s/{escaped}</code>")), "{words}: {file}");
        }
        assert!(
            file.contains("End every Convoke process") && !file.contains("store move"),
            "{file}"
        );
        let server = shown("postgres://june@db/convoke", None);
        assert!(
            server.contains("store move --to") && server.contains("store import FILE"),
            "{server}"
        );
        assert!(!server.contains("-wal") && !server.contains("Copy the backup"), "{server}");
    }
}
