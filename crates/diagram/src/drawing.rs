//! Diagrams as SVG, drawn by another project's implementation of Mermaid.
//!
//! The drawing is a picture of text and shapes: labels are text of the SVG, not a page within it.

use merman::svg::{SvgPipeline, SvgRenderOptions};
use merman::{OperationControl, RenderOutput, RenderRequest, Renderer, SvgRequest};

use crate::parser::{Verdict, limited};

/// The id of the drawing's root. One picture holds one drawing.
const ID: &str = "diagram";

/// Draws one diagram.
pub(crate) fn draw(diagram: String) -> Verdict {
    limited(diagram, |diagram| {
        let request = SvgRequest {
            pipeline: Some(SvgPipeline::resvg_safe()),
            options: SvgRenderOptions { diagram_id: Some(ID.to_owned()), ..Default::default() },
            ..Default::default()
        };
        let request = RenderRequest::svg(diagram, OperationControl::new(), request);
        let fails = |message: String| Verdict::Fails { line: None, message };
        match Renderer::new().render(request) {
            Ok(RenderOutput::Svg(Some(svg))) => Verdict::Drawn { svg: svg.svg().to_string() },
            Ok(_) => fails("it is not a diagram".to_owned()),
            Err(error) => fails(error.to_string()),
        }
    })
}
