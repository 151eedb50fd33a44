//! A skill in `skills_list` and `skills_search`.

use crate::json_length;
use base::printable::visible;
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

impl SkillView {
    /// Returns the approximate length as JSON, in bytes.
    pub fn json_length(&self) -> usize {
        let texts = [&self.install_name, &self.meta.name, &self.meta.description, &self.skill_path, &self.skill_file];
        // Field names and punctuation come on top of the texts.
        100 + texts.into_iter().chain(&self.body).map(|text| json_length(text)).sum::<usize>()
    }
}

impl From<Summary> for SkillView {
    fn from(skill: Summary) -> Self {
        let Summary { install_name, name, description, skill_path, file, display_name, model, .. } = skill;
        let meta = Meta { name: visible(name), description: visible(description) };
        let (install_name, skill_path, skill_file) = (visible(install_name), visible(skill_path), visible(file.path));
        Self { install_name, meta, skill_path, skill_file, body: None, display_name, model }
    }
}
