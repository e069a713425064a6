//! Tasks for programs.

use convoke_domain::scope::AgentName;
use convoke_domain::task::Task;
use convoke_domain::task::id::TaskId;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(super) struct TaskReport<'a> {
    id: &'a str,
    parent: Option<&'a str>,
    content: &'a str,
    body: Option<&'a str>,
    status: &'static str,
    priority: &'static str,
    after: Vec<&'a str>,
    waits_for: Vec<&'a str>,
    agent: Option<&'a str>,
    plan_file: Option<&'a str>,
    skill: Option<&'a str>,
    notes: Option<&'a str>,
    created_at: String,
    updated_at: String,
    completed_at: Option<String>,
    current: bool,
    children: Vec<TaskReport<'a>>,
}

impl<'a> TaskReport<'a> {
    pub(super) fn new(task: &'a Task, current: bool, children: Vec<Self>) -> Self {
        Self {
            id: task.id.as_str(),
            parent: task.parent.as_ref().map(TaskId::as_str),
            content: &task.content,
            body: task.body.as_deref(),
            status: task.status.name(),
            priority: task.priority.name(),
            after: task.after.iter().map(TaskId::as_str).collect(),
            waits_for: task.waits_for.iter().map(TaskId::as_str).collect(),
            agent: task.agent.as_ref().map(AgentName::as_str),
            plan_file: task.plan_file.as_deref(),
            skill: task.skill.as_deref(),
            notes: task.notes.as_deref(),
            created_at: task.created_at.to_string(),
            updated_at: task.updated_at.to_string(),
            completed_at: task.completed_at.map(|at| at.to_string()),
            current,
            children,
        }
    }
}
