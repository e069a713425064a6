//! The program `convoke-web`, which `convoke serve` becomes.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use convoke_engine::web_browser::{OPENERS, open_browser};
use convoke_service::dashboard::{BrowserStart, DashboardRequest, DashboardRights};
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::observer::Unobserved;
use convoke_web::{DashboardListen, serve_dashboard};

use crate::app::App;
use crate::exit::Exit;
use crate::output::Output;
use crate::server::{NotCalled, called};

/// Serves the dashboard until the user ends it. The arguments are Convoke's version, the project and
/// the request.
pub(crate) fn serve(arguments: &[OsString], output: &mut Output) -> Result<Exit, Failure> {
    let directly = || Failure::new(ErrorClass::Usage, NotCalled::Directly).hint("convoke serve");
    let Some((app, rest)) = called(arguments, output)? else { return Err(directly()) };
    let request = DashboardRequest::of_words(rest).ok_or_else(directly)?;
    let listen = DashboardListen { password: request.password()?, request };
    // Pages show what use cases say; the terminal would fill with notes.
    let session = app.session.clone().observed_by(std::sync::Arc::new(Unobserved));
    serve_dashboard(&session, &listen, &mut |address, link| {
        greet(&app, &listen, address, link, output);
    })?;
    Ok(Exit::Done)
}

fn greet(app: &App, listen: &DashboardListen, address: SocketAddr, link: &str, output: &Output) {
    let request = &listen.request;
    let host = match address.ip() {
        ip if ip.is_unspecified() => {
            SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port())
        }
        _ => address,
    };
    let link = format!("http://{host}{link}");
    output.say(&format!("dashboard: {link}"));
    let within = match request.browser {
        BrowserStart::Open => " and within a minute",
        BrowserStart::Print => "",
    };
    output.say(&format!(
        "note: the link works once{within}, in one browser; Ctrl-C ends the dashboard"
    ));
    if request.is_exposed() {
        let rights = match request.rights {
            DashboardRights::Change => "read and change",
            DashboardRights::ReadOnly => "read",
        };
        output.say(&format!(
            "warning: everyone who reaches {address} and knows the password can {rights} this \
             project's runs, tasks, messages and rules; the connection is not encrypted"
        ));
    }
    if request.browser == BrowserStart::Open {
        let environment = &app.session.environment;
        let opener = environment.find_program(OPENERS, &app.session.project);
        let is_open =
            opener.is_some_and(|opener| open_browser(&opener, &link, &app.session.project));
        if !is_open {
            output
                .say("note: Convoke found no program that opens a browser; open the link yourself");
        }
    }
}
