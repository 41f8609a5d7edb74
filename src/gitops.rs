//! What GitOps tools write on the objects that they apply: the cluster goes back to what stands in their repository.

/// A tool's mark on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark<'a> {
    /// `Argo CD application`, `Flux HelmRelease`.
    pub(crate) what: &'static str,
    /// Its name.
    pub(crate) name: &'a str,
    /// The key of the label with its namespace, where the tool sets one.
    pub(crate) namespace_label: Option<&'static str>,
}

/// The mark on an object with these labels and this annotation `argocd.argoproj.io/tracking-id`.
///
/// Source: Argo CD `docs/user-guide/resource_tracking.md`; Flux kustomize-controller and helm-controller, labels of what they
/// apply.
pub(crate) fn mark<'a>(tracking_id: Option<&'a str>, label: impl Fn(&str) -> Option<&'a str>) -> Option<Mark<'a>> {
    let argo = tracking_id.and_then(|id| id.split(':').next()).or_else(|| label("argocd.argoproj.io/instance"));
    if let Some(name) = argo {
        return Some(Mark { what: "Argo CD application", name, namespace_label: None });
    }
    let flux = [
        ("Flux Kustomization", "kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"),
        ("Flux HelmRelease", "helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace"),
    ];
    flux.into_iter()
        .find_map(|(what, name, namespace)| Some(Mark { what, name: label(name)?, namespace_label: Some(namespace) }))
}
