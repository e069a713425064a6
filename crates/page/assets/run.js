// The slider of a run: moves the line on the time axis, and shows each event. Without this script,
// the form and its links do the same, page by page.
'use strict';
const slide = () => {
  const form = document.getElementById('replay');
  if (!form) return;
  const slider = document.getElementById('at');
  const events = JSON.parse(form.dataset.events);
  const gantt = document.querySelector('.gantt');
  const line = gantt && gantt.querySelector('.gantt-cursor line');
  const begins = new Map(), ends = new Map();
  for (const bar of document.querySelectorAll('.gantt-track rect[data-from]')) {
    const keep = (map, at) => { if (at) { const key = Number(at); map.set(key, [...(map.get(key) || []), bar]); } };
    keep(begins, bar.dataset.from);
    keep(ends, bar.dataset.to);
  }
  let shown = events.length;
  const mark = (from, to) => {
    // Only bars between the old and the new event change.
    for (let event = Math.min(from, to) + 1; event <= Math.max(from, to); event += 1) {
      for (const bar of begins.get(event) || []) bar.classList.toggle('future', to < event);
      for (const bar of ends.get(event) || []) bar.classList.toggle('open-then', to < event);
    }
  };
  const move = () => {
    const at = Number(slider.value);
    const event = events[at - 1];
    if (!event) return;
    document.getElementById('at-number').textContent = String(at);
    document.getElementById('at-text').textContent = event[1];
    if (line) {
      const { from, to, width } = gantt.dataset;
      const x = (event[0] - from) * width / Math.max(1, to - from);
      line.setAttribute('x1', x);
      line.setAttribute('x2', x);
    }
    mark(shown, at);
    shown = at;
  };
  let due = false;
  slider.addEventListener('input', () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; move(); });
  });
  move();
};
slide();
// While the run goes on, the course is replaced.
document.addEventListener('replaced', (event) => { if (event.target.id === 'run-course') slide(); });
