use std::collections::HashSet;
use std::sync::Arc;

use super::{ContainerOutcome, Owner, PodCondition, TemplateMemory, Word};

/// Keeps one copy of each text: a hundred thousand pods share a few thousand nodes, reasons and messages.
#[derive(Debug, Default)]
pub struct Interner {
    texts: HashSet<Word>,
    conditions: HashSet<Arc<Box<[PodCondition]>>>,
    owners: HashSet<Arc<Owner>>,
    outcomes: HashSet<Arc<ContainerOutcome>>,
    templates: HashSet<Arc<TemplateMemory>>,
}

impl Interner {
    /// Texts that are known.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Forgets what nothing holds any more but this.
    pub fn sweep(&mut self) {
        self.outcomes.retain(|outcome| Arc::strong_count(outcome) > 1);
        self.conditions.retain(|list| Arc::strong_count(list) > 1);
        self.owners.retain(|owner| Arc::strong_count(owner) > 1);
        self.templates.retain(|template| Arc::strong_count(template) > 1);
        // Last: those hold texts, too.
        self.texts.retain(Word::is_shared);
    }

    /// The one copy of `text`.
    pub fn intern(&mut self, text: &str) -> Word {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        let new: Word = text.into();
        self.texts.insert(new.clone());
        new
    }

    /// The one copy of `text`, or `None` where it is empty.
    pub fn intern_some(&mut self, text: &str) -> Option<Word> {
        (!text.is_empty()).then(|| self.intern(text))
    }

    /// The one copy of a list of pod conditions.
    pub fn intern_conditions(&mut self, list: Vec<PodCondition>) -> Arc<Box<[PodCondition]>> {
        let list = list.into_boxed_slice();
        if let Some(known) = self.conditions.get(&list) {
            return Arc::clone(known);
        }
        let new = Arc::new(list);
        self.conditions.insert(Arc::clone(&new));
        new
    }

    /// The one copy of how a container ended.
    pub fn intern_outcome(&mut self, outcome: ContainerOutcome) -> Arc<ContainerOutcome> {
        if let Some(known) = self.outcomes.get(&outcome) {
            return Arc::clone(known);
        }
        let new = Arc::new(outcome);
        self.outcomes.insert(Arc::clone(&new));
        new
    }

    /// The one copy of what a template says of memory: the Jobs of a `CronJob` or a `JobSet` share it.
    pub fn intern_template(&mut self, template: TemplateMemory) -> Arc<TemplateMemory> {
        if let Some(known) = self.templates.get(&template) {
            return Arc::clone(known);
        }
        let new = Arc::new(template);
        self.templates.insert(Arc::clone(&new));
        new
    }

    /// The one copy of an owner: a Job's pods share it.
    pub fn intern_owner(&mut self, owner: Owner) -> Arc<Owner> {
        if let Some(known) = self.owners.get(&owner) {
            return Arc::clone(known);
        }
        let new = Arc::new(owner);
        self.owners.insert(Arc::clone(&new));
        new
    }
}
