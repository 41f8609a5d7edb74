//! What a person must learn from real recordings: Jobs, pods, Events and nodes of a real control plane, read as
//! `-f` reads them. Each test tells what its recording plays.

mod advice_on_cron_jobs;
mod advice_on_job_sets;
mod advice_on_jobs;
mod advice_on_nodes;
mod advice_on_teardowns;
mod advice_that_holds;
mod advice_to_wait;
mod checkpoints;
mod collateral_and_lost;
mod expected_pods;
mod explanations;
mod job_set_doubts;
mod job_set_scale;
mod job_set_traps;
mod job_sets;
mod job_sets_made_up;
mod kep_4443;
mod made_up;
mod policies;
mod states;
mod support;
