//! `convoke serve`: the dashboard.

use std::net::SocketAddr;
use std::path::PathBuf;

use convoke_service::dashboard::{
    BrowserStart, DashboardRequest, DashboardRights, become_dashboard,
};
use convoke_service::dispatch::dispatch_matrix;
use convoke_service::failure::Failure;
use convoke_service::message::message_page;
use convoke_service::now::{agents_now, now, tree_of, with_trees};
use convoke_service::search::search;
use convoke_service::session::Session;
use convoke_service::store_page::store_page;
use convoke_service::task::{TaskDesk, TaskExcerpt, TaskPlace, TaskPlans, task_page};
use convoke_service::usage::{USUAL_DAYS, usage_page};

use crate::app::App;
use crate::exit::Exit;
use crate::output::Output;

/// Show this project in your browser: lanes, designs, tasks, usage
///
/// Listens on 127.0.0.1 and a free port, prints a link that works once, and opens it. The dashboard
/// acts as you: it starts only in your own terminal, never for an agent. Ctrl-C ends it.
#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// Listen on this address instead of 127.0.0.1 and a free port
    ///
    /// An address that other machines can reach needs `--token-file`; the connection is not encrypted.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,

    /// Read the password of the dashboard from this file, which no other user may read
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Accept requests to this host name, too; repeatable
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,

    /// Only show; offer no button or form that changes something
    #[arg(long)]
    read_only: bool,

    /// Print the link without opening a browser
    #[arg(long)]
    no_open: bool,

    /// Print the report of this page as JSON instead of serving pages
    #[arg(long, value_name = "PAGE", conflicts_with_all = ["listen", "token_file", "host", "read_only", "no_open"])]
    report: Option<PageReport>,

    /// The words of the report `search`
    #[arg(long, value_name = "TEXT", requires = "report", default_value = "")]
    words: String,
}

/// A page of the dashboard whose report can be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PageReport {
    /// Lanes and designs that run, and today's spending
    Now,
    /// Agents' health and hooks
    Agents,
    /// Tasks of the branch, and rules
    Tasks,
    /// Messages of the branch, and who has not read them
    Messages,
    /// Tokens and money of the last 30 days
    Usage,
    /// Rounds of roles, and which documents they read
    Dispatch,
    /// The store's size, projects and backups
    Store,
    /// Runs, findings, tasks and messages with the words of `--words`
    Search,
}

impl ServeArgs {
    /// Prints a report, or becomes the dashboard's server, which returns only if that fails.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match self.report {
            Some(page) => self.print(page, &app.session, output).map(|()| Exit::Done),
            None => Err(self.serve(app)),
        }
    }

    fn print(
        &self,
        page: PageReport,
        session: &Session,
        output: &mut Output,
    ) -> Result<(), Failure> {
        match page {
            PageReport::Now => {
                let mut report = now(session)?;
                with_trees(&mut report.lanes, &mut |folder| Some(tree_of(folder)));
                output.json(&report)
            }
            PageReport::Agents => output.json(&agents_now(session)?),
            PageReport::Tasks => {
                let place = TaskPlace::default();
                let page = |desk: &TaskDesk<'_>| {
                    task_page(desk, &TaskPlans::All, TaskExcerpt::AroundCurrent)
                };
                output.json(&TaskDesk::open_to_read(session, &place, page)?)
            }
            PageReport::Messages => output.json(&message_page(session, None)?),
            PageReport::Usage => output.json(&usage_page(session, USUAL_DAYS)?),
            PageReport::Dispatch => output.json(&dispatch_matrix(session)?),
            PageReport::Store => output.json(&store_page(session)?),
            PageReport::Search => output.json(&search(session, &self.words)?),
        }
    }

    fn serve(&self, app: &App) -> Failure {
        let request = DashboardRequest {
            address: self.listen,
            token_file: self.token_file.clone(),
            hosts: self.host.clone(),
            rights: if self.read_only {
                DashboardRights::ReadOnly
            } else {
                DashboardRights::Change
            },
            browser: if self.no_open { BrowserStart::Print } else { BrowserStart::Open },
        };
        become_dashboard(&app.session, &request)
    }
}
