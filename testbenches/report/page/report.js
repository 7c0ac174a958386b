// The page: reads the data that stands beside it, fills the controls, draws what they choose.
'use strict';

(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const { median, least, greatest, reader, spreads, number_text, time_text, factor_text } = figures;
const $ = (id) => document.getElementById(id);

// ---------------------------------------------------------------------------------------------- the data as columns

const rows = data.rows;
const point = Object.fromEntries(Object.entries(data.points).map(([name, column]) => [name, reader(column)]));
const setting = Object.fromEntries(Object.entries(data.settings).map(([key, column]) => [key, reader(column)]));
const all_rows = Array.from({ length: rows }, (unused, row) => row);
const grids = [...new Set(all_rows.map(point.grid))];
const rows_of = new Map(grids.map((grid) => [grid, []]));
for (const row of all_rows) rows_of.get(point.grid(row)).push(row);
const planned = Number(data.sweep.points || rows);

const setting_of = (key) => setting[key] || (() => null);
const axes_of = (grid) => data.axes.filter((axis) => axis.grid === grid || axis.grid === '');
const is_numeric = (axis) => axis.kind === 'integer' || axis.kind === 'real';
const ns_of = (row, cycles) => (cycles === null || cycles === undefined ? null : cycles * 1000 / point.clock_mhz(row));

const distribution_names = {
  answer: 'answer: command in to answer out', latency: 'latency: submitted to completed', wait: 'wait of the sends that waited',
  answer_waited: 'answer, those that waited', answer_ideal: 'answer, those that did not wait',
};
const distribution_figures = [['p50', 'p50'], ['p90', 'p90'], ['p99', 'p99'], ['p99_9', 'p99.9'], ['mean', 'mean'], ['min', 'least'],
                              ['max', 'greatest'], ['count', 'samples']];
const distributions = {};
for (const [name, columns] of Object.entries(data.distributions)) {
  distributions[name] = Object.fromEntries(Object.entries(columns).map(([figure, column]) => [figure, reader(column)]));
}
const nothing = () => null;
const cycles_reader = (name, figure) => (distributions[name] && distributions[name][figure]) || nothing;
const figure_label = (figure) => (distribution_figures.find(([id]) => id === figure) || ['', figure])[1];

// What can be drawn besides distributions: one number per point.
const plain_measures = new Map();
function add_plain(id, label, read) { plain_measures.set(id, { label, read }); }
const per_second = (row) => {
  const cycles = point.cycles(row), clock = point.clock_mhz(row);
  return cycles > 0 && clock ? point.completed(row) * clock * 1e6 / cycles : null;
};
add_plain('rate', 'completed messages per second', per_second);
for (const [name, label] of [['posted', 'posted sends'], ['completed', 'completed sends'], ['failed', 'failed sends'],
     ['flushed', 'flushed sends'], ['outstanding', 'outstanding sends'], ['duplicated', 'duplicated messages'], ['waited', 'sends that waited'],
     ['rejected_posts', 'rejected posts'], ['opened_by_rtu', 'gates opened by rtu'], ['opened_by_packet', 'gates opened by packet'],
     ['opened_by_comm_est', 'gates opened by comm_est'], ['cycles', 'cycles simulated'], ['host_seconds', 'seconds the run took']]) {
  if (point[name]) add_plain(name, label, point[name]);
}
for (const [name, column] of Object.entries(data.events)) add_plain('event:' + name, 'event ' + name, reader(column));
for (const [name, column] of Object.entries(data.counters)) add_plain('counter:' + name, 'counter ' + name, reader(column));

// A measure with its figure: { label, read(row), text(value), is_time, cycles(row) }.
function metric(measure, figure, unit) {
  if (distributions[measure]) {
    const cycles = cycles_reader(measure, figure);
    const is_time = figure !== 'count';
    const in_time = is_time && unit === 'time';
    const label = measure + ' ' + figure_label(figure);
    return { label: label + (is_time && !in_time ? ' in cycles' : ''), name: label, is_time, cycles, in_time,
             read: in_time ? (row) => ns_of(row, cycles(row)) : cycles, text: in_time ? time_text : number_text };
  }
  const { label, read } = plain_measures.get(measure);
  return { label, name: label, is_time: false, in_time: false, cycles: nothing, read, text: number_text };
}

const both_text = (cycles, ns) => (cycles === null ? 'none' : number_text(cycles) + ' cycles (' + time_text(ns) + ')');
const by_value = (a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : typeof a === 'number' ? -1
                            : typeof b === 'number' ? 1 : 0);
const value_text = (value) => (value === null || value === undefined ? 'not set' : String(value));

// Different values of an axis: numbers by size, words as the sweep has them.
function values_of(key, among) {
  const seen = new Set();
  const read = setting_of(key);
  for (const row of among) seen.add(read(row));
  return [...seen].sort(by_value);
}

// ------------------------------------------------------------------------------------------- small parts of the page

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

// head: words; body: rows of cells, each a text, or { text, value, words, node }. The first column is words.
function fill_table(table, head, body, words = 1) {
  const cell = (content, column, name) => {
    const c = content !== null && typeof content === 'object' ? content : { text: content };
    const made = element(name, { class: column < words || c.words ? 'words' : null, 'data-value': c.value,
                                 scope: name === 'th' ? 'col' : null });
    made.append(c.node || String(c.text));
    return made;
  };
  table.replaceChildren(
    element('thead', {}, element('tr', {}, ...head.map((text, column) => cell(text, column, 'th')))),
    element('tbody', {}, ...body.map((line) => element('tr', {}, ...line.map((content, column) => cell(content, column, 'td'))))));
}

// The choices stand in the address behind '#', so that a view can be sent to somebody.
const state = new URLSearchParams(location.hash.slice(1));
function remember(id, value) {
  state.set(id, value);
  try { history.replaceState(null, '', '#' + state); } catch (error) { /* a file that may not: then it is not kept */ }
}

// options: [[value, label], ...]. Keeps the choice as long as it is among them.
function fill_select(select, options, preferred) {
  const kept = state.get(select.id);
  const is_there = (value) => options.some((option) => option[0] === value);
  select.replaceChildren(...options.map(([value, label]) => element('option', { value }, label)));
  select.value = is_there(kept) ? kept : is_there(preferred) ? preferred : options.length ? options[0][0] : '';
  select.disabled = options.length < 2;
}

// ----------------------------------------------------------------------------------------------------------- charts

const dashes = [[], [7, 3], [2, 3], [9, 3, 2, 3], [12, 4], [4, 2, 1, 2, 1, 2]];
const shapes = ['circle', 'square', 'triangle-up', 'diamond', 'cross', 'triangle-down', 'triangle-right', 'triangle-left'];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
const look_of = (index) => ({ colour: colour('s' + index % 8), dash: dashes[(index + (index >> 3)) % dashes.length],
                              shape: shapes[index % shapes.length] });

vega.expressionFunction('time_text', time_text);
vega.expressionFunction('number_text', number_text);

function chart_config() {
  const text = colour('text'), rule = colour('rule'), soft = colour('soft');
  const font = 'system-ui, "DejaVu Sans", sans-serif';
  return {
    background: null,
    axis: { labelColor: text, titleColor: text, domainColor: soft, tickColor: soft, gridColor: rule, labelFont: font, titleFont: font,
            labelFontSize: 12, titleFontSize: 12, titleFontWeight: 'normal', titlePadding: 8 },
    legend: { labelColor: text, titleColor: text, labelFont: font, titleFont: font, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 'normal' },
    text: { fill: text, font, fontSize: 12 },
  };
}

function add_figure(container, heading) {
  const figure = element('figure', {});
  if (heading) figure.append(element('h3', {}, heading));
  container.append(figure);
  return figure;
}

// Draws a specification in a figure, which is as wide as the others beside it let it be. `alternative` is for those who do not see it.
function draw(figure, spec, alternative) {
  const place = element('div', { class: 'chart' });
  figure.append(place);
  const width = Math.max(280, Math.floor(figure.getBoundingClientRect().width) || 640);
  const full = { ...spec(width), config: chart_config(), padding: 4, description: alternative };
  new vega.View(vega.parse(full), { renderer: 'svg', logLevel: vega.Warn }).initialize(place).run();
  const svg = place.querySelector('svg');
  if (svg) {
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', alternative);
  }
  for (const part of [place, ...place.querySelectorAll('[tabindex]')]) part.removeAttribute('tabindex');
  place.removeAttribute('role');
  place.removeAttribute('aria-roledescription');
  place.removeAttribute('aria-label');
}

function note(container, text) { container.append(element('p', { class: 'hint' }, text)); }

const number_axis_text = (in_time) => ({ labels: { update: { text: { signal: (in_time ? 'time_text' : 'number_text') + '(datum.value)' } } } });

// Scale and axis for values in the y direction (or x), by logarithm where that can be.
function value_scale(name, range, values, by_logarithm) {
  const known = values.filter((value) => value !== null);
  let low = least(known), high = greatest(known);
  if (by_logarithm && low > 0) {
    if (low === high) { low /= 2; high *= 2; }
    // A curve that is nearly flat is not to look like a cliff.
    if (high / low < 1.5) { low /= 1.25; high *= 1.25; }
    low /= 1.15;
    high *= 1.15;
    return { scale: { name, type: 'log', domain: [low, high], range, zero: false }, ticks: { values: figures.log_ticks(low, high) } };
  }
  if (low === high && low === 0) high = 1;
  return { scale: { name, type: 'linear', domain: [Math.min(0, low), high], range, nice: true }, ticks: { tickCount: 6 } };
}

// lines: [{ name, look, points: [{ x, y, low, high, tip }] }]; xs: the values along.
function line_spec({ lines, xs, x_is_number, x_title, y_title, in_time, by_logarithm, step, y_is_share, x_in_time, x_by_logarithm }) {
  // Lines that lie on each other: the lower ones are wider, so that all can be seen.
  const wider = (i) => Math.min(lines.length - 1 - i, 7);
  const points = lines.flatMap((line, i) => line.points.map((p) => ({ ...p, line: line.name, ...line.look, width: 1.8 + 1.1 * wider(i),
                                                                      size: (step ? 24 : 48) + 24 * wider(i) })));
  const share_axis = { labels: { update: { text: { signal: "format(datum.value, '.0%')" } } } };
  return (width) => {
    const y = y_is_share ? { scale: { name: 'y', domain: [0, 1], range: 'height' }, ticks: { tickCount: 5 } }
                         : value_scale('y', 'height', points.flatMap((p) => [p.low, p.high, p.y]), by_logarithm);
    let x;
    if (step) x = value_scale('x', 'width', points.map((p) => p.x), x_by_logarithm);
    else if (!x_is_number) x = { scale: { name: 'x', type: 'point', domain: xs, range: 'width', padding: 0.5 }, ticks: {} };
    else {
      const logarithmic = x_by_logarithm;
      x = { scale: { name: 'x', type: logarithmic ? 'log' : 'linear', domain: xs.length > 1 ? [xs[0], xs[xs.length - 1]] : [xs[0] - 1, xs[0] + 1],
                     range: 'width', zero: false },
            ticks: xs.length <= 12 ? { values: xs } : logarithmic ? { values: figures.log_ticks(xs[0], xs[xs.length - 1]) } : {} };
    }
    const line_marks = [];
    if (!step) {
      line_marks.push({ type: 'area', from: { data: 'line' }, interactive: false, encode: { update: {
        x: { scale: 'x', field: 'x' }, y: { scale: 'y', field: 'low' }, y2: { scale: 'y', field: 'high' },
        fill: { field: 'colour' }, fillOpacity: { value: 0.16 } } } });
    }
    line_marks.push({ type: 'line', from: { data: 'line' }, interactive: false, encode: { update: {
      x: { scale: 'x', field: 'x' }, y: { scale: 'y', field: 'y' }, stroke: { field: 'colour' }, strokeDash: { field: 'dash' },
      strokeWidth: { field: 'width' }, interpolate: { value: step ? 'step-after' : 'linear' } } } });
    if (!step || points.length < 400) {
      line_marks.push({ type: 'symbol', from: { data: 'line' }, encode: { update: {
        x: { scale: 'x', field: 'x' }, y: { scale: 'y', field: 'y' }, shape: { field: 'shape' }, fill: { field: 'colour' },
        size: { field: 'size' }, tooltip: { field: 'tip' } } } });
    }
    return {
      width, height: 300, autosize: { type: 'fit', contains: 'padding' },
      data: [{ name: 'points', values: points }],
      scales: [x.scale, y.scale],
      axes: [
        { orient: 'bottom', scale: 'x', title: x_title, labelOverlap: 'greedy', labelSeparation: 4, labelFlush: false, labelLimit: 140, ...x.ticks,
          encode: step ? number_axis_text(x_in_time) : x_is_number ? number_axis_text(false) : undefined },
        { orient: 'left', scale: 'y', title: y_title, grid: true, labelOverlap: 'greedy', ...y.ticks, encode: y_is_share ? share_axis : number_axis_text(in_time) },
      ],
      marks: [{ type: 'group', from: { facet: { name: 'line', data: 'points', groupby: 'line' } }, marks: line_marks }],
    };
  };
}

// bars: [{ label, parts: [{ name, value, colour, tip }] }], one under the other.
function bar_spec({ bars, x_title, in_time, short_names }) {
  return (width) => {
    const label_width = Math.min(260, Math.max(60, 7 * greatest(bars.map((bar) => bar.label.length))));
    const largest = greatest(bars.map((bar) => bar.parts.reduce((sum, part) => sum + part.value, 0))) || 1;
    const inner = width - label_width - 40;
    const parts = bars.flatMap((bar) => {
      let sum = 0;
      return bar.parts.map((part) => {
        const from = sum;
        sum += part.value;
        const name = short_names && part.value / largest * inner > part.name.length * 7 + 8 ? part.name : '';
        return { bar: bar.label, from, to: sum, middle: (from + sum) / 2, ...part, name };
      });
    });
    return {
      width, height: bars.length * 30 + 50, autosize: { type: 'fit', contains: 'padding' },
      data: [{ name: 'parts', values: parts }],
      scales: [{ name: 'x', type: 'linear', domain: [0, largest], range: 'width', nice: true },
               { name: 'y', type: 'band', domain: bars.map((bar) => bar.label), range: 'height', padding: 0.22 }],
      axes: [{ orient: 'bottom', scale: 'x', title: x_title, grid: true, tickCount: 6, labelOverlap: 'greedy', labelSeparation: 6, encode: number_axis_text(in_time) },
             { orient: 'left', scale: 'y', labelLimit: 260, ticks: false }],
      marks: [
        { type: 'rect', from: { data: 'parts' }, encode: { update: {
          x: { scale: 'x', field: 'from' }, x2: { scale: 'x', field: 'to' }, y: { scale: 'y', field: 'bar' }, height: { scale: 'y', band: 1 },
          fill: { field: 'colour' }, fillOpacity: { field: 'opacity' }, stroke: { value: colour('ground') }, strokeWidth: { value: 1 }, tooltip: { field: 'tip' } } } },
        { type: 'text', from: { data: 'parts' }, interactive: false, encode: { update: {
          x: { scale: 'x', field: 'middle' }, y: { scale: 'y', field: 'bar', band: 0.5 }, text: { field: 'name' }, align: { value: 'center' },
          baseline: { value: 'middle' }, fill: { field: 'ink' }, fontSize: { value: 11 } } } },
      ],
    };
  };
}

function swatch(look, kind) {
  const ns = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(ns, 'svg');
  svg.setAttribute('width', kind === 'line' ? 40 : 14);
  svg.setAttribute('height', 14);
  svg.setAttribute('aria-hidden', 'true');
  const add = (name, attributes) => {
    const made = document.createElementNS(ns, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    svg.append(made);
  };
  if (kind === 'line') {
    add('line', { x1: 0, y1: 7, x2: 40, y2: 7, stroke: look.colour, 'stroke-width': 2.2, 'stroke-dasharray': look.dash.join(' ') });
    const outlines = { circle: 'M20 2.5a4.5 4.5 0 1 0 .01 0z', square: 'M16 3h8v8h-8z', 'triangle-up': 'M20 2l5 9h-10z', diamond: 'M20 1l5 6-5 6-5-6z',
                       cross: 'M18.5 2h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z', 'triangle-down': 'M20 12l5-9h-10z', 'triangle-right': 'M16 2l9 5-9 5z',
                       'triangle-left': 'M24 2l-9 5 9 5z' };
    add('path', { d: outlines[look.shape], fill: look.colour });
  } else {
    add('rect', { width: 14, height: 14, fill: look.colour, 'fill-opacity': look.opacity || 1 });
  }
  return svg;
}

function fill_legend(list, entries, kind) {
  list.replaceChildren(...entries.map(({ name, look }) => element('li', {}, swatch(look, kind), name)));
}

// Black or white, whichever can be read on the colour.
function ink_on(css_colour) {
  const part = (at) => parseInt(css_colour.slice(at, at + 2), 16) / 255;
  return 0.3 * part(1) + 0.59 * part(3) + 0.11 * part(5) > 0.5 ? '#000000' : '#ffffff';
}

// ------------------------------------------------------------------------------------------------------- the choice

const any_value = '*';
let choice = null;

// The unit is left out where it says nothing (1) or the key has it already.
function axis_label({ key, unit }) {
  return unit && unit !== '1' && !key.endsWith('_' + unit) && !key.endsWith('.' + unit) ? key + ' (' + unit + ')' : key;
}

// Reads the controls; fills those that depend on others.
function choose() {
  const grid = $('grid').value;
  const axes = axes_of(grid);
  const grid_rows = rows_of.get(grid) || [];
  const option = (axis) => [axis.key, axis_label(axis)];
  const numeric = axes.filter(is_numeric);
  fill_select($('along'), axes.map(option), (numeric[0] || axes[0] || {}).key);
  const along = $('along').value;
  const others = axes.filter((axis) => axis.key !== along);
  const words = others.filter((axis) => !is_numeric(axis));
  fill_select($('series'), [...others.map(option), ['', '(one line)']], (words[0] || others[0] || {}).key);
  const series = $('series').value;

  const measure = $('measure').value;
  const is_distribution = distributions[measure] !== undefined;
  const available = distribution_figures.filter(([id]) => is_distribution && distributions[measure][id]);
  fill_select($('figure'), is_distribution ? [['p50+p99', 'p50 and p99'], ...available] : [['value', 'value']], 'p50+p99');
  fill_select($('heat_figure'), is_distribution ? available : [['value', 'value']], 'p99');

  // The axes that are left: one value, or all of them together.
  const fixed_axes = others.filter((axis) => axis.key !== series);
  const fixed = new Map();
  let among = grid_rows;
  $('fixed').replaceChildren();
  for (const axis of fixed_axes) {
    const values = values_of(axis.key, among);
    if (values.length < 2) continue;
    const select = element('select', { id: 'fixed:' + axis.key });
    fill_select(select, [...values.map((v) => [value_text(v), value_text(v)]), [any_value, 'all together']], is_tied(axis.key, [along, series], among)
      ? any_value : value_text(values[0]));
    $('fixed').append(element('label', {}, axis_label(axis) + ' ', select));
    fixed.set(axis.key, select.value);
    if (select.value !== any_value) {
      const read = setting_of(axis.key);
      among = among.filter((row) => value_text(read(row)) === select.value);
    }
  }

  const along_axis = axes.find((axis) => axis.key === along) || { key: '', kind: 'text', unit: '', meaning: '' };
  const xs = values_of(along, among);
  const names = series ? values_of(series, among) : [null];
  const heat_options = axes.map(option);
  fill_select($('heat_x'), heat_options, along);
  fill_select($('heat_y'), heat_options.filter(([key]) => key !== $('heat_x').value), series);
  fill_select($('at'), xs.map((x) => [value_text(x), along + ' = ' + value_text(x)]), value_text(xs[xs.length - 1]));
  fill_select($('bars'), [['at', 'at the value chosen above'], ['all', 'all values of ' + along]], 'at');

  const lines = names.map((name, index) => ({ value: name, name: series ? value_text(name) : 'all points', index, look: look_of(index) }));
  choice = { grid, axes, along, along_axis, series, among, grid_rows, xs, lines, fixed, unit: $('unit').value, measure,
             x_is_number: is_numeric(along_axis) && xs.every((x) => typeof x === 'number'), by_logarithm: $('scale').value === 'log' };
  choice.x_by_logarithm = choice.x_is_number && spreads(xs);
  choice.cells = cells_of(along, series, among);
}

// Whether an axis has one value only wherever the chosen ones are fixed (keys that change together).
function is_tied(key, chosen, among) {
  const read = setting_of(key), readers = chosen.filter((k) => k).map(setting_of);
  const seen = new Map();
  for (const row of among) {
    const place = readers.map((r) => value_text(r(row))).join('\u0000');
    const value = read(row);
    if (seen.has(place) && seen.get(place) !== value) return false;
    seen.set(place, value);
  }
  return true;
}

// Rows by value of two axes: cells.get(second value).get(first value).
function cells_of(first, second, among) {
  const read_first = setting_of(first), read_second = second ? setting_of(second) : nothing;
  const cells = new Map();
  for (const row of among) {
    const s = read_second(row), f = read_first(row);
    if (!cells.has(s)) cells.set(s, new Map());
    if (!cells.get(s).has(f)) cells.get(s).set(f, []);
    cells.get(s).get(f).push(row);
  }
  return cells;
}
const cell_rows = (line, x) => (choice.cells.get(line.value) && choice.cells.get(line.value).get(x)) || [];

function summary(read, among) {
  const values = among.map(read).filter((v) => v !== null && v !== undefined);
  return { y: median(values), low: values.length ? least(values) : null, high: values.length ? greatest(values) : null, n: values.length };
}

// --------------------------------------------------------------------------------------------------------- sections

const chosen_figures = () => ($('figure').value === 'p50+p99' ? ['p50', 'p99'] : [$('figure').value]);
const where_fixed = () => [...choice.fixed].filter(([, value]) => value !== any_value).map(([key, value]) => ', ' + key + ' = ' + value).join('');

// At most so many lines can be told apart.
const most_lines = 16;
function shown_lines() {
  const { lines } = choice;
  if (lines.length <= most_lines) return lines;
  return Array.from({ length: most_lines }, (unused, i) => lines[Math.round(i * (lines.length - 1) / (most_lines - 1))]);
}

const text_of = (id) => ($(id).selectedOptions[0] || { textContent: '' }).textContent;

function draw_cost() {
  const { along, xs, unit, measure } = choice;
  $('cost_caption').textContent = (choice.grid ? 'Grid ' + choice.grid + '; ' : '') + text_of('measure') + '; ' + text_of('figure') + ' along ' + text_of('along')
    + (choice.series ? ', one line per ' + text_of('series') : '') + where_fixed() + '; scale ' + text_of('scale') + '.';
  show_named_sets();
  const lines = shown_lines();
  const metrics = chosen_figures().map((figure) => metric(measure, figure, unit));
  fill_legend($('legend'), choice.series ? lines : [], 'line');
  const container = $('cost_charts');
  container.replaceChildren();
  const curves = metrics.map((m) => lines.map((line) => ({
    ...line,
    points: xs.map((x) => ({ x, ...summary(m.read, cell_rows(line, x)) })).filter((p) => p.y !== null)
      .map((p) => ({ ...p, tip: line.name + ', ' + along + ' = ' + value_text(p.x) + ': ' + m.text(p.y)
                               + (p.n > 1 ? ' (' + m.text(p.low) + ' to ' + m.text(p.high) + ', ' + p.n + ' points)' : '') })),
  })));
  const places = metrics.map((m) => add_figure(container, m.label + where_fixed()));
  metrics.forEach((m, i) => {
    const drawn = curves[i].filter((line) => line.points.length);
    if (!drawn.length) { note(places[i], 'None of these points has it.'); return; }
    const alternative = m.label + ' over ' + along + ': ' + drawn.map((line) => line.name + ' from ' + m.text(line.points[0].y) + ' to '
      + m.text(line.points[line.points.length - 1].y)).join('; ') + '. The figures stand in a table below.';
    draw(places[i], line_spec({ lines: drawn, xs, x_is_number: choice.x_is_number, x_by_logarithm: choice.x_by_logarithm, x_title: axis_label(choice.along_axis),
                                y_title: m.label, in_time: m.in_time, by_logarithm: choice.by_logarithm }), alternative);
  });
  if (choice.lines.length > lines.length) note(container, lines.length + ' of ' + choice.lines.length + ' lines are drawn; the tables have all.');
  cost_ends(metrics);
  const head = [choice.series || 'points', along, ...metrics.flatMap((m) => [m.name + ', median', 'least', 'greatest']), 'points'];
  const body = choice.lines.flatMap((line) => xs.map((x) => {
    const among = cell_rows(line, x);
    const parts = metrics.map((m) => summary(m.read, among));
    return [line.name, value_text(x), ...metrics.flatMap((m, i) => [m.text(parts[i].y), m.text(parts[i].low), m.text(parts[i].high)]), among.length];
  }));
  fill_table($('cost_figures'), head, body, 2);
}

// What the names stand for that the lines have, where they are named sets of values.
function show_named_sets() {
  const sets = data.assignments.preset[choice.series];
  $('named').hidden = !sets;
  if (!sets) return;
  $('named_title').textContent = 'What each ' + choice.series + ' is';
  fill_table($('named_sets'), [choice.series, 'what it sets'], choice.lines.map((line) => [line.name, (sets[line.value] || []).join(' ')]), 2);
}

// From the first value along to the last: what it costs, line by line; and the sentence above the charts.
function cost_ends(metrics) {
  const { xs, along } = choice;
  const first = xs[0], last = xs[xs.length - 1];
  const cell = (m, among, value) => {
    const cycles = m.is_time ? median(among.map(m.cycles)) : null;
    const node = element('span', {}, m.text(value));
    if (m.in_time && cycles !== null) node.append(element('span', { class: 'small' }, ' ' + number_text(cycles) + ' cyc'));
    return { node, value: m.is_time ? cycles : value };
  };
  const ends = metrics.map((m) => choice.lines.map((line) => {
    const from = cell_rows(line, first), to = cell_rows(line, last);
    const curve = xs.map((x) => [x, summary(m.read, cell_rows(line, x)).y]).filter(([, y]) => y !== null);
    const at = choice.x_is_number ? figures.knee(curve.map(([x]) => x), curve.map(([, y]) => y), choice.x_by_logarithm) : null;
    return { line, from: summary(m.read, from).y, to: summary(m.read, to).y, from_rows: from, to_rows: to, low: least(curve.map(([, y]) => y)), high: greatest(curve.map(([, y]) => y)),
             knee: at === null ? 'none' : along + ' = ' + value_text(curve[at][0]) };
  }));
  const head = [choice.series || 'points'];
  for (const m of metrics) head.push(m.name + ' at ' + value_text(first), 'at ' + value_text(last), 'factor', 'knee');
  fill_table($('cost_ends'), head, choice.lines.map((line, i) => [line.name, ...metrics.flatMap((m, j) => {
    const e = ends[j][i];
    return [cell(m, e.from_rows, e.from), cell(m, e.to_rows, e.to), e.from > 0 && e.to !== null ? factor_text(e.to / e.from) : 'none', { text: e.knee }];
  })]));

  // In words, for the figure that tells most: the last.
  const m = metrics[metrics.length - 1];
  const known = ends[ends.length - 1].filter((e) => e.from !== null && e.to !== null);
  if (!known.length || xs.length < 2) { $('answer').textContent = ''; return; }
  const is_near = (a, b) => Math.abs(a - b) <= 0.02 * Math.abs(b);
  const same = known.filter((e) => is_near(e.low, e.from) && is_near(e.high, e.from));
  const back = known.filter((e) => !same.includes(e) && is_near(e.to, e.from));
  const moved = known.filter((e) => !is_near(e.to, e.from)).sort((a, b) => Math.abs(b.to - b.from) - Math.abs(a.to - a.from));
  const told = moved.slice(0, 4).map((e) => 'from ' + m.text(e.from) + ' to ' + m.text(e.to) + (e.from > 0 ? ' (' + factor_text(e.to / e.from) + ')' : '')
                                     + (choice.series ? ' with ' + e.line.name : ''));
  const parts = [];
  if (told.length) parts.push('goes ' + told.join(', ') + (moved.length > told.length ? ', and moves for ' + (moved.length - told.length) + ' more lines' : ''));
  if (back.length) {
    parts.push('comes back to where it began' + (choice.series ? ' with ' : '') + back.slice(0, 4).map((e) => (choice.series ? e.line.name : '') + ' (between '
      + m.text(e.low) + ' and ' + m.text(e.high) + ')').join(', ') + (back.length > 4 ? ' and ' + (back.length - 4) + ' more' : ''));
  }
  if (same.length) {
    parts.push('stays as it is (within 2 %)' + (choice.series ? ' with ' + same.slice(0, 4).map((e) => e.line.name + ' (' + m.text(e.to) + ')').join(', ')
      + (same.length > 4 ? ' and ' + (same.length - 4) + ' more' : '') : ''));
  }
  const { meaning } = choice.along_axis;
  $('answer').textContent = 'When ' + along + (meaning ? ' (' + meaning + ')' : '') + ' goes from ' + value_text(first) + ' to ' + value_text(last) + where_fixed() + ', '
    + m.name + explained(m) + ' ' + parts.join('; it ') + '.';
}

// For who reads "answer p99" for the first time.
function explained(m) {
  const [, what] = (distribution_names[choice.measure] || '').split(': ');
  const [, percent] = m.is_time && m.name.match(/ p([0-9.]+)$/) || [];
  const parts = [what, percent && percent + ' % take no longer'].filter((part) => part);
  return parts.length ? ' (' + parts.join('; ') + ')' : '';
}

function draw_heat() {
  const container = $('heat_chart');
  container.replaceChildren();
  const x_key = $('heat_x').value, y_key = $('heat_y').value;
  if (!x_key || !y_key) {
    $('heat_caption').textContent = 'A heat map needs two axes.';
    fill_table($('heat_figures'), [], []);
    return;
  }
  // The other axes as chosen above; one that is drawn there and not here counts with all its values.
  const among = choice.grid_rows.filter((row) => [...choice.fixed].every(([key, value]) => value === any_value || key === x_key || key === y_key
                                                                            || value_text(setting_of(key)(row)) === value));
  const m = metric(choice.measure, $('heat_figure').value, choice.unit);
  const mixed = [choice.along, choice.series].filter((key) => key && key !== x_key && key !== y_key);
  $('heat_caption').textContent = m.label + where_fixed() + ', median of the repeats' + (mixed.length ? ' and of all values of ' + mixed.join(' and ') : '') + '.';
  const xs = values_of(x_key, among), ys = values_of(y_key, among);
  const cells = cells_of(x_key, y_key, among);
  const values = ys.flatMap((y) => xs.map((x) => {
    const s = summary(m.read, (cells.get(y) && cells.get(y).get(x)) || []);
    return { x: value_text(x), y: value_text(y), value: s.y, text: m.text(s.y), tip: x_key + ' = ' + value_text(x) + ', ' + y_key + ' = ' + value_text(y) + ': ' + m.text(s.y) };
  }));
  fill_table($('heat_figures'), [y_key + ' \\ ' + x_key, ...xs.map(value_text)], ys.map((y, i) => [value_text(y),
    ...values.slice(i * xs.length, (i + 1) * xs.length).map((cell) => ({ text: cell.text, value: cell.value }))]));
  const known = values.filter((cell) => cell.value !== null);
  if (!known.length) { note(container, 'None of these points has it.'); return; }
  const low = least(known.map((c) => c.value)), high = greatest(known.map((c) => c.value));
  const by_logarithm = choice.by_logarithm && low > 0 && high / low > 20;
  for (const cell of known) {
    const share = high === low ? 0 : by_logarithm ? Math.log(cell.value / low) / Math.log(high / low) : (cell.value - low) / (high - low);
    cell.ink = share > 0.55 ? '#000000' : '#ffffff';
  }
  const spec = (width) => {
    // On a telephone the legend goes under the cells, which need the width.
    const narrow = width < 480;
    const label_width = Math.min(narrow ? 140 : 180, 7 * greatest(ys.map((y) => value_text(y).length)));
    const inner = width - label_width - (narrow ? 30 : 130);
    const cell_text_size = Math.min(12, (inner / xs.length - 6) / (0.58 * greatest(known.map((cell) => cell.text.length))));
    const with_text = cell_text_size >= 9 && ys.length <= 40;
    return {
      width, height: Math.min(700, Math.max(150, ys.length * 38 + 70)) + (narrow ? 70 : 0), autosize: { type: 'fit', contains: 'padding' },
      data: [{ name: 'cells', values: known }],
      scales: [{ name: 'x', type: 'band', domain: xs.map(value_text), range: 'width' },
               { name: 'y', type: 'band', domain: ys.map(value_text).reverse(), range: 'height' },
               { name: 'colour', type: by_logarithm ? 'log' : 'linear', domain: high > low ? [low, high] : [low, low + (Math.abs(low) || 1)],
                 range: { scheme: 'cividis' }, zero: false }],
      axes: [{ orient: 'bottom', scale: 'x', title: x_key, labelOverlap: 'greedy', labelSeparation: 4, labelLimit: 140 },
             { orient: 'left', scale: 'y', title: narrow ? null : y_key, labelLimit: label_width, labelOverlap: 'greedy' }],
      legends: [{ fill: 'colour', type: 'gradient', title: m.label, titleLimit: 160, ...(narrow ? { orient: 'bottom', direction: 'horizontal', gradientLength: inner - 20 }
                    : { gradientLength: Math.min(220, Math.max(80, ys.length * 38 - 20)) }),
                  ...(by_logarithm ? { values: figures.log_ticks(low, high) } : { tickCount: 4 }), labelOverlap: 'greedy', encode: number_axis_text(m.in_time) }],
      marks: [
        { type: 'rect', from: { data: 'cells' }, encode: { update: {
          x: { scale: 'x', field: 'x' }, y: { scale: 'y', field: 'y' }, width: { scale: 'x', band: 1 }, height: { scale: 'y', band: 1 },
          fill: { scale: 'colour', field: 'value' }, stroke: { value: colour('ground') }, strokeWidth: { value: 1 }, tooltip: { field: 'tip' } } } },
        ...(with_text ? [{ type: 'text', from: { data: 'cells' }, interactive: false, encode: { update: {
          x: { scale: 'x', field: 'x', band: 0.5 }, y: { scale: 'y', field: 'y', band: 0.5 }, text: { field: 'text' }, fill: { field: 'ink' },
          align: { value: 'center' }, baseline: { value: 'middle' }, fontSize: { value: cell_text_size } } } }] : []),
      ],
    };
  };
  draw(add_figure(container), spec, 'Heat map of ' + m.label + ' over ' + x_key + ' and ' + y_key + ': from ' + m.text(low) + ' to ' + m.text(high)
    + '. The figures stand in a table below.');
}

const chosen_at = () => choice.xs.find((x) => value_text(x) === $('at').value);

function draw_spread() {
  const name = $('spread_of').value, x = chosen_at();
  const container = $('spread_chart');
  container.replaceChildren();
  $('spread_caption').textContent = name + ' at ' + choice.along + ' = ' + value_text(x) + where_fixed();
  const curve_of = data.curves[name];
  const in_time = choice.unit === 'time';
  const lines = shown_lines().map((line) => {
    const curves = [];
    for (const row of curve_of ? cell_rows(line, x) : []) {
      const curve = curve_of[row];
      if (curve) curves.push(in_time ? curve.map((v, i) => (i % 2 ? v : ns_of(row, v))) : curve);
    }
    const steps = figures.pooled(curves);
    const points = steps.map(([value, share]) => ({ x: value, y: share, low: share, high: share,
      tip: line.name + ': ' + (share * 100).toFixed(2) + ' % within ' + (in_time ? time_text(value) : number_text(value) + ' cycles') }));
    if (points.length) points.unshift({ ...points[0], y: 0 });
    return { ...line, points };
  }).filter((line) => line.points.length);
  if (lines.length) {
    const values = lines.flatMap((line) => line.points.map((p) => p.x));
    const end = greatest(values);
    for (const line of lines) line.points.push({ ...line.points[line.points.length - 1], x: end });
    draw(add_figure(container), line_spec({ lines, step: true, y_is_share: true, x_title: name + (in_time ? '' : ' in cycles'), y_title: 'share of the samples',
                                x_in_time: in_time, x_by_logarithm: choice.by_logarithm && least(values) > 0 }),
         'Distribution of ' + name + ', one line per ' + (choice.series || 'set of points') + '. The percentiles stand in a table below.');
  } else {
    note(container, 'There are no samples of ' + name + ' here.');
  }
  const shown = distribution_figures.filter(([figure]) => distributions[name] && distributions[name][figure]);
  fill_table($('spread_figures'), [choice.series || 'points', ...shown.map(([, label]) => label)], choice.lines.map((line) => [line.name, ...shown.map(([figure]) => {
    const among = cell_rows(line, x);
    const m = metric(name, figure, choice.unit);
    return { text: m.text(median(among.map(m.read))), value: median(among.map(m.cycles)) };
  })]));
}

// The bars of the two sections below: [{ label, rows }].
function bars() {
  const x = chosen_at();
  const wanted = $('bars').value === 'all' ? choice.xs : [x];
  const list = [];
  for (const line of choice.lines) {
    for (const value of wanted) {
      const label = [choice.series ? line.name : '', !choice.series ? choice.along + ' = ' + value_text(value) : wanted.length > 1 ? value_text(value) : ''].filter((t) => t).join(' · ');
      list.push({ label, rows: cell_rows(line, value) });
    }
  }
  return list.filter((bar) => bar.rows.length);
}
const most_bars = 60;
const bars_where = () => ($('bars').value === 'all' ? (choice.series ? choice.series + ' · ' + choice.along : 'All values of ' + choice.along) : choice.along + ' = ' + $('at').value) + where_fixed();

function draw_stages() {
  const container = $('stages_chart');
  container.replaceChildren();
  const waiting = ['stage.post', 'stage.gate_wait'];
  const stages = data.stages.filter((stage) => $('stage_choice').value === 'all' || !waiting.includes(stage))
    .filter((stage) => choice.among.some((row) => cycles_reader(stage, 'mean')(row) > 0));
  $('stages_caption').textContent = bars_where();
  const metrics = stages.map((stage) => metric(stage, 'mean', choice.unit));
  // The same colours come a second time, paler.
  const colours = stages.map((stage) => colour('s' + data.stages.indexOf(stage) % 8));
  const opacities = stages.map((stage) => (data.stages.indexOf(stage) < 8 ? 1 : 0.45));
  const inks = stages.map((stage, i) => (opacities[i] < 1 ? colour('text') : ink_on(colours[i])));
  fill_legend($('stage_legend'), stages.map((stage, i) => ({ name: stage.slice(6), look: { colour: colours[i], opacity: opacities[i] } })), 'bar');
  const all = bars();
  const of = (bar) => metrics.map((m) => median(bar.rows.map(m.read)));
  if (stages.length && all.length) {
    const drawn = all.slice(0, most_bars).map((bar) => ({ label: bar.label, parts: of(bar).map((value, i) => ({
      name: stages[i].slice(6), value: value || 0, colour: colours[i], opacity: opacities[i], ink: inks[i], tip: bar.label + ': ' + stages[i].slice(6) + ' ' + metrics[i].text(value) })) }));
    draw(add_figure(container), bar_spec({ bars: drawn, x_title: 'mean' + (choice.unit === 'time' ? '' : ', cycles'), in_time: choice.unit === 'time', short_names: true }),
         'Stacked bars: mean time in each stage. The figures stand in a table below.');
    if (all.length > most_bars) note(container, most_bars + ' of ' + all.length + ' bars are drawn; the table has all.');
  } else {
    note(container, 'None of these points has stages.');
  }
  fill_table($('stages_figures'), ['', ...stages.map((stage) => stage.slice(6)), 'sum'], all.map((bar) => {
    const values = of(bar);
    const text = choice.unit === 'time' ? time_text : number_text;
    return [bar.label, ...values.map((value, i) => ({ text: metrics[i].text(value), value: median(bar.rows.map(metrics[i].cycles)) })),
            text(values.reduce((sum, value) => sum + (value || 0), 0))];
  }));
}

function draw_gate() {
  const container = $('gate_chart');
  container.replaceChildren();
  $('gate_caption').textContent = bars_where() + '. Median of the repeats.';
  const openers = ['rtu', 'packet', 'comm_est'];
  const looks = openers.map((unused, i) => ({ colour: colour('s' + i) }));
  fill_legend($('gate_legend'), openers.map((name, i) => ({ name: 'opened by ' + name, look: looks[i] })), 'bar');
  const all = bars();
  const count = (bar, name) => median(bar.rows.map(point[name] || nothing));
  if (all.some((bar) => openers.some((name) => count(bar, 'opened_by_' + name) > 0))) {
    const drawn = all.slice(0, most_bars).map((bar) => ({ label: bar.label, parts: openers.map((name, i) => {
      const value = count(bar, 'opened_by_' + name) || 0;
      return { name, value, colour: looks[i].colour, opacity: 1, ink: ink_on(looks[i].colour), tip: bar.label + ': ' + number_text(value) + ' opened by ' + name };
    }) }));
    draw(add_figure(container), bar_spec({ bars: drawn, x_title: 'gates opened', in_time: false, short_names: true }), 'Stacked bars: gates opened, by opener. The figures stand in the table below.');
  } else {
    note(container, 'No gate was opened here.');
  }
  const waits = ['p50', 'p99', 'max'].map((figure) => metric('wait', figure, choice.unit));
  const has_waits = distributions.wait !== undefined;
  fill_table($('gate_figures'), ['', ...openers.map((name) => 'opened by ' + name), 'sends that waited', 'rejected posts', ...(has_waits ? ['wait p50', 'wait p99', 'wait, greatest'] : [])],
    all.map((bar) => [bar.label, ...[...openers.map((name) => 'opened_by_' + name), 'waited', 'rejected_posts'].map((name) => {
      const value = count(bar, name);
      return { text: number_text(value), value };
    }), ...(has_waits ? waits.map((m) => ({ text: m.text(median(bar.rows.map(m.read))), value: median(bar.rows.map(m.cycles)) })) : [])]));
}

// -------------------------------------------------------------------------------------------------- table of points

const rows_on_page = 50;
const table_columns = [];
let found_rows = all_rows, page_at = 0, sorted_by = null, sort_sign = 1, search_texts = null;

function add_column(label, read, words, text) { table_columns.push({ label, read, words, text: text || (words ? value_text : number_text) }); }

function make_columns() {
  add_column('point', point.point, false, String);
  if (grids.length > 1) add_column('grid', point.grid, true);
  for (const key of new Set(data.axes.map((axis) => axis.key))) {
    if (!setting[key]) continue;
    const words = data.axes.some((axis) => axis.key === key && !is_numeric(axis));
    add_column(key, setting[key], words, (value) => (value === null || value === undefined ? '' : String(value)));
  }
  add_column('seed', point.seed, false, String);
  add_column('status', point.status, true);
  for (const name of ['answer', 'latency', 'wait']) {
    if (!distributions[name]) continue;
    for (const figure of ['p50', 'p99']) add_column(name + ' ' + figure, cycles_reader(name, figure), false);
  }
  for (const name of ['waited', 'rejected_posts', 'completed']) add_column(name.replace('_', ' '), point[name], false);
  const line = element('tr', {});
  table_columns.forEach((column, i) => {
    // On paper a long key may be cut after a dot or an underscore.
    const pieces = column.label.split(/(?<=[._])/);
    const button = element('button', { type: 'button' }, ...pieces.flatMap((piece, at) => (at ? [element('wbr', {}), piece] : [piece])));
    button.addEventListener('click', () => sort_by(i));
    line.append(element('th', { scope: 'col', class: column.words ? 'words' : null, 'aria-sort': 'none' }, button));
  });
  $('point_table').tHead.replaceChildren(line);
}

function sort_by(index) {
  sort_sign = sorted_by === index ? -sort_sign : 1;
  sorted_by = index;
  [...$('point_table').tHead.rows[0].cells].forEach((cell, i) => cell.setAttribute('aria-sort', i !== index ? 'none' : sort_sign > 0 ? 'ascending' : 'descending'));
  page_at = 0;
  show_found();
}

// What is not there comes last, however it is sorted.
function sorted(list) {
  if (sorted_by === null) return list;
  const { read } = table_columns[sorted_by];
  const is_missing = (value) => value === null || value === undefined;
  return [...list].sort((a, b) => {
    const x = read(a), y = read(b);
    if (is_missing(x) || is_missing(y)) return is_missing(x) - is_missing(y) || a - b;
    return sort_sign * (typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y))) || a - b;
  });
}

function search() {
  const words = $('search').value.toLowerCase().split(/\s+/).filter((word) => word);
  if (words.length) {
    search_texts = search_texts || all_rows.map((row) => table_columns.map((column) => column.label + '=' + column.text(column.read(row))).join(' ')
      .concat(' ', point.message(row) || '').toLowerCase());
  }
  found_rows = words.length ? all_rows.filter((row) => words.every((word) => search_texts[row].includes(word))) : all_rows;
  page_at = 0;
  show_found();
}

let ordered = null, ordered_from = null, ordered_by = null;
function show_found() {
  const by = sorted_by + '/' + sort_sign;
  if (ordered_from !== found_rows || ordered_by !== by) {
    ordered = sorted(found_rows);
    ordered_from = found_rows;
    ordered_by = by;
  }
  const pages = Math.max(1, Math.ceil(ordered.length / rows_on_page));
  page_at = Math.min(page_at, pages - 1);
  const shown = ordered.slice(page_at * rows_on_page, (page_at + 1) * rows_on_page);
  const body = shown.map((row) => {
    const line = element('tr', {});
    table_columns.forEach((column, i) => {
      const cell = element('td', { class: column.words ? 'words' : null });
      const text = column.text(column.read(row));
      if (i === 0) {
        const button = element('button', { type: 'button', 'aria-label': 'Command of point ' + text }, text);
        button.addEventListener('click', () => { show_point(point.point(row)); $('reproduce').scrollIntoView(); $('command').focus(); });
        cell.append(button);
      } else {
        cell.append(text);
        if (column.label === 'status' && point.message(row)) cell.setAttribute('title', point.message(row));
      }
      line.append(cell);
    });
    return line;
  });
  $('point_table').tBodies[0].replaceChildren(...body);
  // Paper has no room for columns in which nothing stands.
  table_columns.forEach((column, i) => {
    const blank = shown.every((row) => (column.read(row) ?? null) === null);
    for (const line of $('point_table').rows) line.cells[i].classList.toggle('blank', blank);
  });
  $('points_on_paper').textContent = number_text(page_at * rows_on_page + (shown.length ? 1 : 0)) + ' to ' + number_text(page_at * rows_on_page + shown.length) + ' of '
    + number_text(ordered.length) + ' points; ' + (found_rows === all_rows ? 'the others are on the screen.' : 'found by “' + $('search').value.trim() + '”.');
  $('found').textContent = number_text(ordered.length) + ' of ' + number_text(rows) + ' points';
  $('page_number').textContent = 'page ' + (page_at + 1) + ' of ' + pages;
  $('earlier').disabled = page_at === 0;
  $('later').disabled = page_at === pages - 1;
}

// -------------------------------------------------------------------------------------------------------- reproduce

// The --set of the sweep's own command line, which the database has as "--set KEY=VALUE --filter KEY=VALUE ...".
function option_sets() {
  return (data.sweep.options || '').split(/(?:^| )(?=--(?:set|filter) )/).filter((option) => option.startsWith('--set ')).map((option) => option.slice(6));
}

// A value of the database as --set takes it.
function assigned(axis, value) {
  if (axis.kind !== 'choice_list' || String(value).startsWith('[')) return axis.key + '=' + value;
  return axis.key + '=[' + String(value).split(', ').filter((word) => word).map((word) => '"' + word + '"').join(', ') + ']';
}

function command_of(row) {
  const grid = point.grid(row);
  const sets = [...(data.assignments.set[''] || []), ...option_sets(), ...(grid && data.assignments.set[grid] || [])];
  for (const axis of axes_of(grid)) {
    const value = setting_of(axis.key)(row);
    if (value === null || value === undefined) continue;
    if (axis.kind === 'preset') sets.push(...((data.assignments.preset[axis.key] || {})[value] || []));
    else sets.push(assigned(axis, value));
  }
  const scenario = data.sweep.scenario_file || 'SCENARIO';
  return ['hcasim run', figures.shell_word(scenario), ...sets.map((set) => '--set ' + figures.shell_word(set)), '--seed ' + point.seed(row)].join(' ');
}

let shown_command = '';
function show_point(number) {
  const row = all_rows.find((r) => point.point(r) === Number(number));
  $('point_number').value = number;
  if (row === undefined) {
    $('command').textContent = 'There is no finished point ' + number + '.';
    $('point_about').textContent = '';
    shown_command = '';
    return;
  }
  shown_command = command_of(row);
  $('command').textContent = shown_command;
  const answer = cycles_reader('answer', 'p50')(row), worst = cycles_reader('answer', 'p99')(row);
  $('point_about').textContent = 'Point ' + number + (point.grid(row) ? ' of grid ' + point.grid(row) : '') + ': ' + point.status(row)
    + (point.message(row) ? ' (' + point.message(row) + ')' : '') + '. answer p50 ' + both_text(answer ?? null, ns_of(row, answer)) + ', p99 '
    + both_text(worst ?? null, ns_of(row, worst)) + '. Configuration ' + (point.config_hash(row) || 'none') + ', hcasim ' + point.version(row) + '.';
}

// --------------------------------------------------------------------------------------------------------- headline

function show_head() {
  const sweep = data.sweep;
  const name = sweep.name || 'sweep';
  document.title = name + ': hcasim report';
  $('title').textContent = name;
  const scenario = (sweep.scenario_file || '').split('/').pop();
  const seeds = new Set(all_rows.map(point.seed)).size;
  const axes_text = grids.length === 1 ? axes_of(grids[0]).map((axis) => axis.key).join(' × ') : grids.join(', ');
  $('about').textContent = 'This is the sweep “' + name + '” of the scenario ' + (scenario || 'that stands below') + ': '
    + (grids.length > 1 ? grids.length + ' grids' : 'one grid') + ' (' + axes_text + '), ' + (seeds > 1 ? 'with up to ' + seeds + ' seeds for each combination' : 'each combination once')
    + '. Every point is one simulation; times are cycles of the core clock or what they last.';

  const statuses = {};
  for (const row of all_rows) statuses[point.status(row)] = (statuses[point.status(row)] || 0) + 1;
  if (rows < planned) {
    $('incomplete').hidden = false;
    $('incomplete').textContent = 'The sweep is not finished: ' + number_text(rows) + ' of ' + number_text(planned) + ' points are here. The same sweep command goes on with the others.';
  }
  card('points', number_text(rows), 'of ' + number_text(planned), rows);
  card('points done', number_text(statuses.done || 0), number_text(statuses.failed || 0) + ' failed, ' + number_text(statuses.violated || 0) + ' broke a rule of the protocol', statuses.done || 0);

  const grid = grids[0], axes = axes_of(grid);
  const series = axes.find((axis) => !is_numeric(axis));
  const over = (figure, among) => {
    const read = cycles_reader('answer', figure);
    const with_it = among.filter((row) => read(row) !== null && read(row) !== undefined);
    return { cycles: median(with_it.map(read)), ns: median(with_it.map((row) => ns_of(row, read(row)))) };
  };
  for (const figure of ['p50', 'p99']) {
    const all = over(figure, all_rows);
    card('answer ' + figure + ', median over all points', time_text(all.ns), all.cycles === null ? '' : number_text(all.cycles) + ' cycles', all.cycles);
  }
  if (!series) return;
  const groups = values_of(series.key, rows_of.get(grid)).map((value) => ({ value, rows: rows_of.get(grid).filter((row) => setting_of(series.key)(row) === value) }));
  for (const figure of ['p50', 'p99']) {
    const ranked = groups.map((group) => ({ name: value_text(group.value), ...over(figure, group.rows) })).filter((g) => g.ns !== null).sort((a, b) => a.ns - b.ns);
    if (ranked.length < 2) continue;
    const best = ranked[0].ns, worst = ranked[ranked.length - 1].ns;
    if (best === worst) continue;
    for (const [word, value] of [['best', best], ['worst', worst]]) {
      const alike = ranked.filter((g) => g.ns === value), group = alike[0];
      card(word + ' ' + series.key + ' by answer ' + figure + (grid ? ', grid ' + grid : ''), group.name + (alike.length > 1 ? ' and ' + (alike.length - 1) + ' more' : ''), time_text(group.ns) + ', ' + number_text(group.cycles) + ' cycles', group.cycles);
    }
  }
}

function card(name, value, more, raw) {
  $('cards').append(element('li', { 'data-card': name, 'data-value': raw }, element('span', { class: 'name' }, name), element('span', { class: 'value' }, value),
                            element('span', { class: 'more' }, more)));
}

function show_reproduce() {
  const sweep = data.sweep;
  const versions = [...new Set(all_rows.map(point.version))];
  const pairs = [['sweep file', sweep.sweep_file], ['scenario file', sweep.scenario_file], ['identity', sweep.identity], ['options', sweep.options || 'none'],
                 ['version that began the sweep', sweep.version], ['versions of the points', versions.join(', ')], ['version that made this report', data.program_version],
                 ['schema', sweep.schema]].filter(([, value]) => value);
  $('versions').replaceChildren(element('tbody', {}, ...pairs.map(([key, value]) => element('tr', {}, element('th', { scope: 'row' }, key), element('td', {}, value)))));
  fill_table($('axes'), ['grid', 'key', 'kind', 'unit', 'meaning'], data.axes.map((axis) => [axis.grid, axis.key, axis.kind, axis.unit, axis.meaning]), 5);
  $('sweep_text').textContent = sweep.sweep_text || '';
  $('scenario_text').textContent = sweep.scenario_text || '';
  show_point(point.point(0));
}

// ----------------------------------------------------------------------------------------------------------- events

function draw_all() {
  choose();
  draw_cost();
  draw_heat();
  draw_spread();
  draw_stages();
  draw_gate();
}

const system_dark = matchMedia('(prefers-color-scheme: dark)');
let on_paper = false;
function set_theme(redraw) {
  const theme = state.get('theme') || 'system';
  const dark = !on_paper && (theme === 'dark' || (theme === 'system' && system_dark.matches));
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  $('theme').textContent = 'Theme: ' + { system: 'as the system', dark: 'dark', light: 'light' }[theme];
  if (redraw) draw_all();
}

function begin() {
  set_theme(false);
  show_head();
  fill_select($('grid'), grids.map((grid) => [grid, grid || '(the only one)']), grids[0]);
  const names = Object.keys(distributions);
  const known = Object.keys(distribution_names).filter((name) => names.includes(name));
  fill_select($('measure'), [...known.map((name) => [name, distribution_names[name]]),
                             ...data.stages.map((name) => [name, 'stage ' + name.slice(6)]),
                             ...[...plain_measures].map(([id, { label }]) => [id, label])], 'answer');
  fill_select($('unit'), [['time', 'time'], ['cycles', 'cycles']], 'time');
  fill_select($('scale'), [['log', 'logarithmic'], ['linear', 'linear']], 'log');
  fill_select($('spread_of'), ['answer', 'latency', 'wait'].filter((name) => data.curves[name]).map((name) => [name, distribution_names[name]]), 'answer');
  fill_select($('stage_choice'), [['all', 'all'], ['path', 'without those that wait for the gate']], 'all');
  draw_all();
  make_columns();
  show_found();
  show_reproduce();

  document.addEventListener('change', (event) => {
    if (event.target.tagName !== 'SELECT') return;
    const { id } = event.target;
    remember(id, event.target.value);
    draw_all();
    const again = $(id);  // a select that was made anew
    if (again) again.focus();
  });
  for (const form of document.querySelectorAll('form')) form.addEventListener('submit', (event) => event.preventDefault());
  let waiting = 0;
  $('search').addEventListener('input', () => { clearTimeout(waiting); waiting = setTimeout(search, 150); });
  $('earlier').addEventListener('click', () => { page_at -= 1; show_found(); });
  $('later').addEventListener('click', () => { page_at += 1; show_found(); });
  $('point_number').addEventListener('input', () => show_point($('point_number').value));
  $('copy').addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(shown_command);
      $('copied').textContent = 'copied';
    } catch (error) {
      getSelection().selectAllChildren($('command'));
      $('copied').textContent = 'selected: copy it with the keyboard';
    }
  });
  $('theme').addEventListener('click', () => {
    remember('theme', { system: 'dark', dark: 'light', light: 'system' }[state.get('theme') || 'system']);
    set_theme(true);
  });
  // For paper the browser says that the system is light now, when the charts for it are drawn already.
  system_dark.addEventListener('change', () => { if (!on_paper) set_theme(true); });
  let resizing = 0, width = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth === width || on_paper) return;
    width = innerWidth;
    clearTimeout(resizing);
    resizing = setTimeout(draw_all, 200);
  });
  // Paper is light, and has a width of its own.
  function print(begins) {
    on_paper = begins;
    document.documentElement.toggleAttribute('data-paper', begins);
    set_theme(true);
  }
  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));
  document.documentElement.dataset.ready = 'yes';
}

begin();
})();
