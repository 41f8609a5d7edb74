use clap::Args;

use crate::source::cluster::Connection;

#[derive(Debug, Args)]
pub(super) struct ConnectionArgs {
    /// Only this namespace
    #[arg(short = 'n', long)]
    namespace: Option<String>,
}

impl ConnectionArgs {
    pub(super) fn namespace(&self) -> Option<String> {
        self.namespace.clone()
    }
    pub(super) fn flags_for_kubectl(&self) -> Vec<String> {
        Vec::new()
    }
    pub(super) fn into_connection(self) -> anyhow::Result<Connection> {
        Ok(Connection {})
    }
}
