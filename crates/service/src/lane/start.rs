//! Starting a lane with the agent that answers.

use std::path::Path;

use convoke_domain::client::Client;
use convoke_domain::lane::event::LaneEvent;
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::pin::{Pin, before_prompt};
use convoke_engine::client::fleet::FleetCommand;
use convoke_engine::client::{ClientRequest, Rights};
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::cancel::Cancel;
use convoke_engine::lane::cassette::{CassetteMatching, CassetteRequest, LaneIdentity, shown};
use convoke_engine::lane::drive::{ClientProgram, LaneTranscript, Runner, drive};
use convoke_engine::lane::fleet_offer::FleetOffer;
use convoke_engine::lane::replay::{Recorder, load};
use convoke_engine::lane::supervisor::Supervision;

use super::acp::{AcpAgent, acp_agent};
use super::agent::{NO_TOOLS, cassette_failed, in_lane, program, seen_by, unable, unplayable};
use super::fleet::{READS_ONLY, fleet_program, fleet_variables};
use super::meter::LaneMeter;
use super::{LaneError, LaneProgress, LaneRequest, OnProgress, lane_failed};
use crate::failure::{Failure, with_causes};
use crate::observer::Reporter;
use crate::session::Session;
use crate::settings::endpoint::{Configured, endpoint};

impl LaneRequest<'_> {
    /// Runs it in the project, and tells what happens meanwhile.
    pub(super) fn start(
        &self,
        session: &Session,
        scratch: &Path,
        reporter: &Reporter,
        pins: &[Pin],
        mut meter: Option<&mut LaneMeter>,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<LaneTranscript, Failure> {
        let recorder = self.record.map(|path| {
            let recorder = Recorder::start(path, session.environment.home());
            recorder.map_err(|source| cassette_failed(path, source))
        });
        let mut recorder = recorder.transpose()?;
        let cancel = session.cancel().child();
        let mut notice = |event: &LaneEvent| {
            if meter.as_mut().is_some_and(|meter| meter.stops_at(event)) {
                cancel.cancel();
            }
            if on_progress(LaneProgress::Said(event)).is_break() {
                cancel.cancel();
            }
            if let Some(recorder) = &mut recorder {
                recorder.notice(event);
            }
        };
        let prompt = before_prompt(pins, self.prompt);
        let transcript = self.choose(session, &prompt, scratch, &cancel, &mut notice)?;
        if let (Some(recorder), Some(path)) = (recorder, self.record) {
            let saved = recorder.save(&self.request(session), &transcript);
            // An answer that was paid for is not lost because it cannot be kept, too.
            if let Err(source) = saved {
                let error = LaneError::Cassette { path: path.to_owned(), source };
                reporter.warn(format!("the lane is not recorded: {}", with_causes(&error)));
            }
        }
        let is_missing = transcript.is_recorded && transcript.outcome == LaneOutcome::NotStarted;
        if is_missing {
            reporter
                .note("hint: record it with `--record FILE`, or name a recorded lane's `--label`");
        }
        Ok(transcript)
    }

    /// Runs the lane with the agent that answers, on the prompt as Convoke sends it.
    fn choose(
        &self,
        session: &Session,
        prompt: &str,
        scratch: &Path,
        cancel: &Cancel,
        notice: &mut dyn FnMut(&LaneEvent),
    ) -> Result<LaneTranscript, Failure> {
        let folder = session.absolute_project();
        let (folder, scratch) = (folder.display().to_string(), scratch.display().to_string());
        let request = ClientRequest {
            prompt,
            model: self.model,
            effort: self.effort,
            resume: self.resume,
            rights: self.rights,
            folder: &folder,
            scratch: &scratch,
            acp: None,
            fleet: None,
        };
        let supervision = Supervision { limits: self.limits, cancel };
        let mut run = |runner: &Runner<'_>, request: &ClientRequest<'_>| {
            drive(runner, request, supervision, notice).map_err(lane_failed)
        };
        match self.agent {
            AgentRef::Client(agent) => {
                let program = ClientProgram {
                    agent: *agent,
                    program: &program(*agent, session)?,
                    convoke: &session.environment.program(),
                    variables: in_lane(seen_by(*agent, session)?, &scratch, &self.inside(session)),
                };
                run(&Runner::Program(program), &request)
            }
            AgentRef::Acp(name) => {
                let AcpAgent { command, variables } = acp_agent(name, session)?;
                let variables = in_lane(variables, &scratch, &self.inside(session));
                let convoke = session.environment.program();
                let (agent, program) = (Client::Acp, convoke.as_path());
                let bridge = ClientProgram { agent, program, convoke: program, variables };
                run(&Runner::Program(bridge), &ClientRequest { acp: Some(&command), ..request })
            }
            AgentRef::Http(name) => {
                self.refuse_tools()?;
                let Configured { endpoint, model, effort } = endpoint(session, name)?;
                let model = self.model.or(Some(model.as_str()));
                let effort = self.effort.or(effort.as_deref());
                run(&Runner::Http(&endpoint), &ClientRequest { model, effort, ..request })
            }
            AgentRef::Fleet(offer) => {
                self.refuse_remote()?;
                let program = fleet_program(session)?;
                let variables = in_lane(fleet_variables(session), &scratch, &self.inside(session));
                let convoke = session.environment.program();
                let (agent, program) = (Client::Fleet, program.as_path());
                let companion = ClientProgram { agent, program, convoke: &convoke, variables };
                let command = self.fleet_command(offer, prompt);
                let request = ClientRequest { fleet: Some(&command), ..request };
                run(&Runner::Program(companion), &request)
            }
            AgentRef::Replay(path) => {
                let cassette = load(path).map_err(|source| unplayable(path, source))?;
                run(&Runner::Replay(&cassette, &self.identity(session)), &request)
            }
        }
    }

    /// Returns the words for the companion. A lane of a run has a name, by which a resumed run finds it again.
    fn fleet_command(&self, offer: &FleetOffer, prompt: &str) -> FleetCommand {
        let command = FleetCommand::new(offer, self.limits);
        match (&self.purpose.run, self.label.or(self.place)) {
            (Some(run), Some(place)) => command.of_run(run, place, prompt),
            (Some(_) | None, _) => command,
        }
    }

    /// Returns the requested model: an API has one in its configuration.
    pub(crate) fn asked_model(&self, session: &Session) -> Option<String> {
        let configured = || match self.agent {
            AgentRef::Http(name) => endpoint(session, name).ok().map(|configured| configured.model),
            AgentRef::Client(_) | AgentRef::Acp(_) | AgentRef::Replay(_) | AgentRef::Fleet(_) => {
                None
            }
        };
        self.model.map(str::to_owned).or_else(configured)
    }

    /// Refuses sessions and tools for an API, which has neither; silence would look like success.
    fn refuse_tools(&self) -> Result<(), Failure> {
        match (self.resume, self.rights) {
            (Some(_), _) => Err(unable(self.agent, "a session to resume: it keeps none")),
            (None, Rights::Write) => Err(unable(self.agent, NO_TOOLS)),
            (None, Rights::ReadOnly) => Ok(()),
        }
    }

    /// Refuses what another machine cannot do yet; silence would look like success.
    fn refuse_remote(&self) -> Result<(), Failure> {
        match (self.resume, self.rights) {
            (Some(_), _) => Err(unable(self.agent, "a session to resume: it stays on its worker")),
            (None, Rights::Write) => Err(unable(self.agent, READS_ONLY)),
            (None, Rights::ReadOnly) => Ok(()),
        }
    }

    fn identity(&self, session: &Session) -> LaneIdentity {
        let home = session.environment.home();
        LaneIdentity::new(self.prompt, self.model, self.resume, self.label, home.as_deref())
    }

    /// Returns how the lane is recorded. Who gives it a label wants it to be found by that.
    fn request(&self, session: &Session) -> CassetteRequest {
        let LaneIdentity { hash, label } = self.identity(session);
        CassetteRequest {
            hash,
            matching: if label.is_some() {
                CassetteMatching::Label
            } else {
                CassetteMatching::Exact
            },
            label,
            agent: self.agent.to_string(),
            model: self.model.map(str::to_owned),
            prompt: shown(self.prompt),
            recorded_at: session.now().to_string(),
        }
    }
}
