//! A skill in `skills_list` and `skills_search`.

use bindings::types::{SkillModel, Summary};
use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillView {
    pub install_name: String,
    pub meta: Meta,
    pub skill_path: String,
    pub skill_file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// For the terminal, not for JSON.
    #[serde(skip)]
    pub display_name: String,
    #[serde(skip)]
    pub model: SkillModel,
}

#[derive(Serialize)]
pub struct Meta {
    pub name: String,
    pub description: String,
}

pub fn model_name(model: SkillModel) -> &'static str {
    match model {
        SkillModel::Folder => "folder",
        SkillModel::Tree => "tree",
    }
}

impl From<Summary> for SkillView {
    fn from(skill: Summary) -> Self {
        Self {
            install_name: skill.install_name,
            meta: Meta { name: skill.name, description: skill.description },
            skill_path: skill.skill_path,
            skill_file: skill.file.path,
            body: None,
            display_name: skill.display_name,
            model: skill.model,
        }
    }
}
