//! Reads files.
use super::*;
pub fn read(paths: &[String], filter: Filter, _: &mut dyn FnMut(&str)) -> std::io::Result<Snapshot> {
    let mut i = Intake::new(filter);
    for p in paths {
        let r: Box<dyn std::io::Read> =
            if p == "-" { Box::new(std::io::stdin()) } else { Box::new(std::fs::File::open(p)?) };
        i.read_json(r)?;
    }
    let t: Vec<_> = Resource::ALL.iter().map(|r| (*r, i.tally(*r))).collect();
    let mut s = i.finish();
    s.sources = t
        .into_iter()
        .map(|(r, t)| Source {
            cluster: None,
            resource: r.name().into(),
            file: None,
            state: if t.objects > 0 { SourceState::Read } else { SourceState::NotAsked },
            objects: t.objects,
            skipped: t.skipped,
            message: None,
        })
        .collect();
    Ok(s)
}
