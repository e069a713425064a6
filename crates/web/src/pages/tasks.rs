//! The pages of tasks and rules, and their forms.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use convoke_domain::pin::PinText;
use convoke_domain::scope::AgentName;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::order::SiblingPlace;
use convoke_domain::task::priority::TaskPriority;
use convoke_page::components::query;
use convoke_page::layout::Section;
use convoke_page::tasks::{TaskFrame, task_page as one_page, tasks_page};
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::pin::{AddPinRequest, PinScope, add_pin, remove_pin};
use convoke_service::session::Session;
use convoke_service::task::{
    AddTasksRequest, EditRequest, TaskChangeReport, TaskDesk, TaskExcerpt, TaskPlace, TaskPlans,
    TaskStep, UndoneStep, add_tasks, change_task, edit_task, filled_line, remove_task,
    reorder_task, show_task, start_task, task_log, task_page, undo_task_step,
};

use super::{changed, failure};
use crate::answer::shown;
use crate::dashboard::Dashboard;
use crate::door::CheckedForm;
use crate::form::{Asked, Fields, bad_field};

const SECTION: Section = Section::Tasks;

/// How many changes of a task its page shows.
const MOST_CHANGES: usize = 50;

pub(crate) fn routes() -> Router<Arc<Dashboard>> {
    Router::new()
        .route("/tasks", get(list))
        .route("/tasks/{task}", get(show))
        .route("/tasks/change", post(step))
        .route("/tasks/add", post(add))
        .route("/tasks/note", post(note))
        .route("/tasks/assign", post(assign))
        .route("/tasks/edit", post(edit))
        .route("/tasks/remove", post(remove))
        .route("/tasks/undo", post(undo))
        .route("/pins/add", post(pin))
        .route("/pins/remove", post(unpin))
}

fn place(fields: &Fields) -> TaskPlace {
    TaskPlace { branch: fields.get("branch").map(str::to_owned), actor: None }
}

fn plans(fields: &Fields) -> TaskPlans {
    match fields.get("plan") {
        Some(plan) => TaskPlans::File(plan.to_owned()),
        None if fields.get("without_plan").is_some() => TaskPlans::WithoutFile,
        None => TaskPlans::All,
    }
}

fn task_id(text: &str) -> Result<TaskId, Failure> {
    TaskId::parse(text).map_err(usage)
}

fn agent_name(text: &str) -> Result<AgentName, Failure> {
    AgentName::parse(text).map_err(usage)
}

fn usage(error: impl std::error::Error + Send + Sync + 'static) -> Failure {
    Failure::new(ErrorClass::Usage, error)
}

async fn list(State(dashboard): State<Arc<Dashboard>>, Asked(fields): Asked) -> Response {
    let place = place(&fields);
    let excerpt = match fields.get("page") {
        Some(_) => fields.parsed("page", |page| page.parse().ok()).map(TaskExcerpt::Page),
        None => Ok(TaskExcerpt::AroundCurrent),
    };
    let plans = plans(&fields);
    let chosen = plans.clone();
    let report = dashboard.read(move |session| {
        let excerpt = excerpt?;
        TaskDesk::open_to_read(session, &place, |desk| task_page(desk, &chosen, excerpt))
    });
    match report.await {
        Ok(report) => {
            let frame = dashboard.frame(SECTION, "Tasks", fields.get("note"));
            let inner = TaskFrame {
                access: frame.access,
                csrf: &frame.csrf,
                branch: &report.branch,
                page: report.page,
                plans: &plans,
            };
            shown(&frame, &tasks_page(&report, inner))
        }
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}

async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    Path(task): Path<String>,
    Asked(fields): Asked,
) -> Response {
    let place = place(&fields);
    let report = dashboard.read(move |session| {
        let id = task_id(&task)?;
        TaskDesk::open_to_read(session, &place, |desk| {
            let shown = show_task(desk, &id)?.report();
            let log = task_log(desk, Some(&id), MOST_CHANGES)?;
            let mut log: Vec<_> = log.iter().map(TaskChangeReport::new).collect();
            log.reverse();
            Ok((shown, log, desk.branch().to_owned()))
        })
    });
    match report.await {
        Ok((task, log, branch)) => {
            let frame = dashboard.frame(SECTION, &task.task.content, fields.get("note"));
            let access = frame.access;
            let plans = &TaskPlans::All;
            let inner = TaskFrame { access, csrf: &frame.csrf, branch: &branch, page: None, plans };
            shown(&frame, &one_page(&task, &log, inner))
        }
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}

/// A place that the browser goes to after a change.
enum Back {
    Tree(Option<String>),
    Task(String),
}

impl Back {
    fn path(&self, fields: &Fields) -> String {
        let branch = fields.get("branch").map(|branch| format!("?branch={}", query(branch)));
        let branch = branch.unwrap_or_default();
        // The page of a long list that the change was made on.
        let page = fields.get("page").filter(|_| !branch.is_empty());
        let page = page.map(|page| format!("&page={}", query(page))).unwrap_or_default();
        let plans = match plans(fields) {
            _ if branch.is_empty() => String::new(),
            TaskPlans::File(plan) => format!("&plan={}", query(&plan)),
            TaskPlans::WithoutFile => "&without_plan=1".to_owned(),
            TaskPlans::All => String::new(),
        };
        match self {
            Self::Tree(None) => format!("/tasks{branch}{plans}{page}"),
            Self::Tree(Some(id)) => format!("/tasks{branch}{plans}{page}#task-{id}"),
            Self::Task(id) => format!("/tasks/{id}{branch}"),
        }
    }
}

/// Works on the tasks of the form's branch, and leads back to a page.
async fn work(
    dashboard: &Dashboard,
    fields: Fields,
    deed: impl FnOnce(&Session, &TaskDesk<'_>, &Fields) -> Result<(Back, String), Failure>
    + Send
    + 'static,
) -> Response {
    let given = fields.clone();
    let done = dashboard.change(move |session| {
        TaskDesk::open(session, &place(&given), |desk| deed(session, desk, &given))
    });
    match done.await {
        Ok(((back, words), heard)) => {
            let words = [words, heard].into_iter().filter(|words| !words.is_empty());
            let words = words.collect::<Vec<_>>().join(" ");
            changed(dashboard, &back.path(&fields), &words)
        }
        Err(why) => failure(dashboard, SECTION, &why),
    }
}

/// The steps of the tree's buttons: `done ID`, `before OTHER ID`.
async fn step(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(CheckedForm(fields)): Extension<CheckedForm>,
) -> Response {
    work(&dashboard, fields, |_, desk, fields| {
        let words: Vec<_> = fields.text("do")?.split(' ').collect();
        let id = words.last().copied().unwrap_or_default().to_owned();
        let done = match words.as_slice() {
            ["start", id] => start_task(desk, Some(&task_id(id)?))?,
            ["done", id] => change_task(desk, &task_id(id)?, &TaskStep::Done)?,
            ["skip", id] => change_task(desk, &task_id(id)?, &TaskStep::Skip)?,
            ["before", other, id] => {
                reorder_task(desk, &task_id(id)?, SiblingPlace::Before(&task_id(other)?))?
            }
            ["after", other, id] => {
                reorder_task(desk, &task_id(id)?, SiblingPlace::After(&task_id(other)?))?
            }
            _ => return Err(bad_field("do")),
        };
        let words = match words[0] {
            "start" => format!("Started {}.", done.id),
            "done" => format!("Completed {}.", done.id),
            "skip" => format!("Skipped {}.", done.id),
            _ => format!("Moved {}.", done.id),
        };
        let back = match fields.get("back") {
            Some(task) => Back::Task(task_id(task)?.to_string()),
            None => Back::Tree(Some(id)),
        };
        Ok((back, words))
    })
    .await
}

async fn add(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(CheckedForm(fields)): Extension<CheckedForm>,
) -> Response {
    work(&dashboard, fields, |_, desk, fields| {
        let title = filled_line(fields.text("title")?).map_err(|_| bad_field("title"))?;
        let request = AddTasksRequest {
            titles: vec![title],
            parent: fields.get("parent").map(task_id).transpose()?,
            plan: None,
            agent: fields.get("agent").map(|name| agent_name(name.trim())).transpose()?,
            skill: None,
            skill_version: None,
            body: fields.lines("body"),
            after: Vec::new(),
            priority: fields.maybe("priority", TaskPriority::parse)?.unwrap_or_default(),
        };
        let added = add_tasks(desk, &request)?;
        let back = match fields.get("parent") {
            Some(parent) => Back::Task(parent.to_owned()),
            None => Back::Tree(added.id.clone()),
        };
        Ok((back, format!("Added {}.", added.ids.join(", "))))
    })
    .await
}

async fn note(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(CheckedForm(fields)): Extension<CheckedForm>,
) -> Response {
    work(&dashboard, fields, |_, desk, fields| {
        let id = task_id(fields.text("task")?)?;
        let text = filled_line(fields.text("note")?).map_err(|_| bad_field("note"))?;
        change_task(desk, &id, &TaskStep::Note(text))?;
        Ok((Back::Task(id.to_string()), format!("Noted on {id}.")))
    })
    .await
}

async fn assign(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(CheckedForm(fields)): Extension<CheckedForm>,
) -> Response {
    work(&dashboard, fields, |_, desk, fields| {
        let id = task_id(fields.text("task")?)?;
        let agent = fields.get("agent").map(|name| agent_name(name.trim())).transpose()?;
        let words = match &agent {
            Some(agent) => format!("Assigned {id} to @{agent}."),
            None => format!("Assigned {id} to no agent."),
        };
        change_task(desk, &id, &TaskStep::Assign(agent))?;
        Ok((Back::Task(id.to_string()), words))
    })
    .await
}

async fn edit(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(CheckedForm(fields)): Extension<CheckedForm>,
) -> Response {
    work(&dashboard, fields, |_, desk, fields| {
        let id = task_id(fields.text("task")?)?;
        let title = filled_line(fields.text("title")?).map_err(|_| bad_field("title"))?;
        let after = fields.text("after")?.split_whitespace().map(task_id);
        let request = EditRequest {
            id: id.clone(),
            title: Some(title),
            body: Some(fields.text("body")?.replace("\r\n", "\n")),
            priority: fields.maybe("priority", TaskPriority::parse)?,
            after: Some(after.collect::<Result<_, _>>()?),
        };
        edit_task(desk, &request, &mut |_| Err(bad_field("title")))?;
        Ok((Back::Task(id.to_string()), format!("Saved {id}.")))
    })
    .await
}

async fn remove(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(CheckedForm(fields)): Extension<CheckedForm>,
) -> Response {
    work(&dashboard, fields, |_, desk, fields| {
        let id = task_id(fields.text("task")?)?;
        let removed = remove_task(desk, &id)?.removed;
        let words = format!("Removed {removed} tasks; `convoke task restore {id}` restores them.");
        Ok((Back::Tree(None), words))
    })
    .await
}

async fn undo(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(CheckedForm(fields)): Extension<CheckedForm>,
) -> Response {
    work(&dashboard, fields, |_, desk, _| {
        let words = match undo_task_step(desk)? {
            UndoneStep::Changes(changes) if changes.is_empty() => "Nothing to undo.".to_owned(),
            UndoneStep::Changes(changes) => {
                let one = |change| TaskChangeReport::new(change);
                let lines = changes.iter().map(one).map(|one| format!("{} {}", one.task, one.what));
                format!("Undone: {}.", lines.collect::<Vec<_>>().join("; "))
            }
            UndoneStep::Verdict(judged) => format!("Undone: {}.", judged.deed.words()),
        };
        Ok((Back::Tree(None), words))
    })
    .await
}

fn back_to_rules(fields: &Fields) -> String {
    format!("{}#rules", Back::Tree(None).path(fields))
}

async fn pin(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(CheckedForm(fields)): Extension<CheckedForm>,
) -> Response {
    let back = back_to_rules(&fields);
    let done = dashboard.change(move |session| {
        let text = PinText::parse(fields.text("text")?).map_err(usage)?;
        let scope = match fields.get("scope") {
            Some("branch") => PinScope::Branch,
            Some(_) | None => PinScope::Project,
        };
        let branch = fields.get("branch").map(str::to_owned);
        let scope = Some(scope);
        add_pin(session, &AddPinRequest { text, scope, task: None, until: None, branch })
    });
    match done.await {
        Ok((rule, heard)) => {
            let words = format!("Added rule {}. {heard}", rule.id);
            changed(&dashboard, &back, words.trim())
        }
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}

async fn unpin(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(CheckedForm(fields)): Extension<CheckedForm>,
) -> Response {
    let back = back_to_rules(&fields);
    let done = dashboard.change(move |session| {
        let id = fields.parsed("rule", |text| text.parse().ok())?;
        remove_pin(session, id)
    });
    match done.await {
        Ok((removed, _)) => {
            changed(&dashboard, &back, &format!("Removed rule {}.", removed.removed))
        }
        Err(why) => failure(&dashboard, SECTION, &why),
    }
}
