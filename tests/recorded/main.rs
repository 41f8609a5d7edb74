//! What a person must learn from real recordings: Jobs, pods, Events and nodes of a real control plane, read as
//! `-f` reads them. Each test tells what its recording plays.

mod above;
mod advice_on_cron_jobs;
mod advice_on_job_sets;
mod advice_on_jobs;
mod advice_on_nodes;
mod advice_on_teardowns;
mod advice_that_holds;
mod advice_to_wait;
mod apps;
mod checkpoints;
mod clusters;
mod collateral_and_lost;
mod cron_jobs_beside;
mod expected_pods;
mod explanations;
mod job_set_doubts;
mod job_set_scale;
mod job_set_traps;
mod job_sets;
mod job_sets_made_up;
mod kep_4443;
mod kept;
mod made_up;
mod nodes;
mod odd_moments;
mod order_and_secrets;
mod owners;
mod policies;
mod serving;
mod states;
mod support;
mod tomorrow;
#[path = "../shared/tomorrow.rs"]
mod unknown;
