// Draws the diagram of a frame with Mermaid in its strict mode. Without Mermaid, or with a diagram
// that it cannot draw, the text stays.
'use strict';
(async () => {
  const source = document.getElementById('source');
  const drawing = document.getElementById('drawing');
  const say = (words) => {
    const line = document.createElement('p');
    line.textContent = words;
    document.body.prepend(line);
  };
  if (!window.mermaid) { say('Mermaid could not be loaded; this is the diagram as text.'); return; }
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  try {
    window.mermaid.initialize({
      startOnLoad: false, securityLevel: 'strict', theme: dark ? 'dark' : 'default',
      secure: ['securityLevel', 'startOnLoad', 'secure', 'theme', 'themeCSS', 'htmlLabels', 'fontFamily'],
      htmlLabels: false, flowchart: { htmlLabels: false },
    });
    const { svg } = await window.mermaid.render('diagram', source.textContent);
    const parsed = new DOMParser().parseFromString(svg, 'text/html').querySelector('svg');
    if (!parsed) throw new Error('no drawing');
    for (const link of parsed.querySelectorAll('a')) link.replaceWith(...link.childNodes);
    drawing.replaceChildren(parsed);
    source.hidden = true;
  } catch (error) {
    say('Mermaid cannot draw this diagram; this is its text.');
  }
})();
