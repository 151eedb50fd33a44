//! The samples as a plot: one panel per figure, one line per server.

use crate::report::{SERVERS, Sample, percentile, sorted_latencies};
use std::fmt::Write as _;

const WIDTH: f64 = 900.0;
const PANEL: f64 = 130.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 30.0;
const COLORS: [&str; 3] = ["#2563eb", "#ea580c", "#16a34a"];

type Line = (&'static str, Vec<f64>);

#[expect(clippy::cast_precision_loss, reason = "counts of less than a billion")]
pub fn svg(samples: &[Sample]) -> String {
    let of_servers = |read: fn(&Sample, usize) -> f64| -> Vec<Line> {
        let line = |number: usize| samples.iter().map(|sample| read(sample, number)).collect();
        SERVERS.iter().enumerate().map(|(number, name)| (*name, line(number))).collect()
    };
    let latency = |percent: usize| -> Vec<f64> {
        let sorted = samples.iter().map(|sample| sorted_latencies(std::slice::from_ref(sample)));
        sorted.map(|sorted| percentile(&sorted, percent).as_secs_f64() * 1e3).collect()
    };
    let panels: [(&str, Vec<Line>); 5] = [
        ("memory, MB", of_servers(|sample, number| sample.servers[number].memory)),
        ("descriptors", of_servers(|sample, number| sample.servers[number].descriptors as f64)),
        ("threads", of_servers(|sample, number| sample.servers[number].threads as f64)),
        ("temporary files", vec![("all", samples.iter().map(|sample| sample.temporary_files as f64).collect())]),
        ("latency, ms", vec![("p50", latency(50)), ("p99", latency(99)), ("max", latency(100))]),
    ];
    let height = TOP + PANEL * panels.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    let minutes = samples.last().map_or(0.0, |sample| sample.at.as_secs_f64() / 60.0);
    let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"16\">{minutes:.0} minutes from left to right</text>");
    for (number, (title, lines)) in panels.iter().enumerate() {
        panel(&mut svg, TOP + PANEL * number as f64, title, lines);
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws lines over one another, from zero to their maximum.
#[expect(clippy::cast_precision_loss, reason = "counts of less than a billion")]
fn panel(svg: &mut String, top: f64, title: &str, lines: &[Line]) {
    let (inner, bottom) = (PANEL - 35.0, top + PANEL - 25.0);
    let largest = lines.iter().flat_map(|(_, values)| values).copied().fold(1.0, f64::max);
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{:.1}\" font-weight=\"bold\">{title}</text>\n\
         <path d=\"M{LEFT} {:.1}V{bottom}H{}\" fill=\"none\" stroke=\"#9ca3af\"/>\n\
         <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{largest:.0}</text>\n\
         <text x=\"{}\" y=\"{bottom}\" text-anchor=\"end\">0</text>",
        top + 4.0,
        bottom - inner,
        WIDTH - 10.0,
        LEFT - 6.0,
        bottom - inner + 8.0,
        LEFT - 6.0
    );
    for (number, (name, values)) in lines.iter().enumerate() {
        let step = (WIDTH - LEFT - 10.0) / (values.len().max(2) - 1) as f64;
        let point = |(index, value): (usize, &f64)| {
            format!("{:.1},{:.1}", LEFT + step * index as f64, bottom - inner * value / largest)
        };
        let points: Vec<String> = values.iter().enumerate().map(point).collect();
        let color = COLORS[number % COLORS.len()];
        let label = LEFT + 140.0 + 60.0 * number as f64;
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\"/>\n\
             <text x=\"{label}\" y=\"{:.1}\" fill=\"{color}\">{name}</text>",
            points.join(" "),
            top + 4.0
        );
    }
}
