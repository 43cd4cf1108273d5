/* page.js - what a report adds where scripts run: the switch between light and dark; for each study
 * what is shown, by which axis, of which cells; and files of what is shown. Everything is drawn from
 * the data in the page, and every text goes in as text. */
'use strict';
(function () {
const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 760, LEFT = 200, PLOT = 480, BAR = 12, STACKED = 18, GAP = 8, TOP = 40;
const ROWS_FIRST = 50, ROWS_MOST = 80, BOXES_MOST = 12, LINE_LEAST = 8;

function element(name, props, ...inside) {
  const e = document.createElement(name);
  Object.assign(e, props);
  e.append(...inside);
  return e;
}
function drawn(name, attributes, text) {
  const e = document.createElementNS(SVG, name);
  for (const key in attributes) e.setAttribute(key, attributes[key]);
  if (text !== undefined) e.textContent = text;
  return e;
}
function number(x) {
  return Math.abs(x) >= 1e6 ? x.toPrecision(3) : String(+x.toFixed(2));
}

/* ---- light and dark -------------------------------------------------------------------------- */

function themes() {
  const button = document.getElementById('theme'), names = ['as the system', 'light', 'dark'];
  let at = 0;
  button.hidden = false;
  button.addEventListener('click', function () {
    at = (at + 1) % names.length;
    if (at) document.documentElement.dataset.theme = names[at];
    else delete document.documentElement.dataset.theme;
    button.textContent = 'Colours: ' + names[at];
    document.dispatchEvent(new Event('theme'));
  });
}

/* ---- files ----------------------------------------------------------------------------------- */

function guarded(text) { /* a spreadsheet takes =, +, - and @ for the beginning of a formula */
  const safe = /^[=+\-@]/.test(text) ? "'" + text : text;
  return /[",\r\n]/.test(safe) ? '"' + safe.replace(/"/g, '""') + '"' : safe;
}
function csv(shown) {
  const line = (name, values) => [guarded(name)].concat(values).join(',');
  return [['row'].concat(shown.series.map(guarded)).join(',')]
    .concat(shown.rows.map(r => line(r.name, r.values.map(x => x === null ? '' : x)))).join('\n') + '\n';
}
function gnuplot(shown) {
  const plain = text => text.replace(/['"`\\\n]/g, ' ');
  return '# gnuplot -p FILE\n$data << END\n' +
    shown.rows.map(r => '"' + plain(r.name) + '" ' +
      r.values.map(x => x === null ? 'NaN' : x).join(' ')).join('\n') +
    "\nEND\nset title '" + plain(shown.title) + "' noenhanced\nset ylabel '" + plain(shown.unit) +
    "' noenhanced\nset grid ytics\nset key outside right noenhanced\nset style data histograms\n" +
    'set style histogram ' + (shown.stack ? 'rowstacked' : 'clustered') +
    '\nset style fill solid 0.8\nset xtics rotate by -45 noenhanced\nplot \\\n' +
    shown.series.map((s, i) => '  $data using ' + (i + 2) + ":xtic(1) title '" + plain(s) + "'")
      .join(', \\\n') + '\n';
}
function file(name, type, make) {
  const a = element('a', {href: '#', textContent: name.replace(/.*\./, ''), download: name});
  a.addEventListener('click', function () { /* made when it is wanted */
    if (a.href.startsWith('blob:')) URL.revokeObjectURL(a.href);
    a.href = URL.createObjectURL(new Blob([make()], {type: type}));
  });
  return a;
}

/* ---- a picture of rows ----------------------------------------------------------------------- */

function scale(shown) {
  let low = 0, high = 0;
  for (const r of shown.rows) {
    const known = r.values.filter(x => x !== null);
    const sum = positive => known.filter(x => positive ? x > 0 : x < 0).reduce((a, b) => a + b, 0);
    low = Math.min(low, shown.stack ? sum(false) : Math.min(0, ...known));
    high = Math.max(high, shown.stack ? sum(true) : Math.max(0, ...known));
  }
  if (high - low <= 0) high = low + 1;
  const rough = (high - low) / 6, power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = power * [1, 2, 5, 10].find(x => rough / power <= x * (1 + 1e-9));
  high = Math.ceil(high / step - 1e-9) * step;
  return {low, high, step, x: v => LEFT + Math.round(PLOT * (v - low) / (high - low))};
}
function legend(svg, shown) {
  let x = 10, y = TOP;
  shown.series.forEach(function (name, i) {
    const width = 24 + 8 * name.length;
    if (x + width > WIDTH && x > 10) { x = 10; y += 18; }
    svg.append(drawn('rect', {x, y: y - 9, width: 10, height: 10, class: 's' + i % 10}),
               drawn('text', {x: x + 14, y, class: 'text'}, name));
    x += width;
  });
  return y + 18;
}
function label(name) { /* what tells names apart; the tips have all of them */
  const short = name.replace(/^workload:/, '');
  return short.length > 24 ? short.slice(0, 24) + '...' : short;
}
function picture(shown) {
  const svg = drawn('svg', {xmlns: SVG, role: 'img', 'font-family': 'sans-serif', 'font-size': 12});
  const back = drawn('rect', {class: 'back', width: WIDTH});
  svg.append(drawn('title', {}, shown.title), back, drawn('text', {x: 10, y: 20, class: 'text title'}, shown.title));
  const top = legend(svg, shown), s = scale(shown);
  const high = GAP + (shown.stack ? STACKED : BAR * shown.series.length);
  const bottom = top + high * shown.rows.length;
  svg.append(drawn('rect', {x: LEFT, y: top, width: PLOT, height: bottom - top, class: 'panel'}));
  for (let v = Math.ceil(s.low / s.step - 1e-9) * s.step; v <= s.high + s.step / 2; v += s.step)
    svg.append(drawn('line', {x1: s.x(v), x2: s.x(v), y1: top, y2: bottom, class: 'grid'}),
               drawn('text', {x: s.x(v), y: bottom + 14, class: 'faint small middle'}, number(v)));
  svg.append(drawn('text', {x: LEFT + PLOT / 2, y: bottom + 30, class: 'faint small middle'}, shown.unit));
  shown.rows.forEach(function (r, k) {
    const y = top + GAP / 2 + high * k;
    let up = 0, down = 0, sum = 0;
    svg.append(drawn('text', {x: LEFT - 8, y: y + high / 2, class: 'text end'},
                     label(r.name)));
    r.values.forEach(function (v, i) {
      if (v === null) return;
      const from = shown.stack ? v < 0 ? down : up : 0, to = from + v;
      const a = s.x(Math.min(from, to)), b = s.x(Math.max(from, to));
      const bar = drawn('rect', {x: a, y: shown.stack ? y : y + BAR * i, width: b - a,
                                 height: shown.stack ? STACKED - 2 : BAR - 1, class: 's' + i % 10});
      bar.append(drawn('title', {}, r.name + ', ' + shown.series[i] + ': ' + number(v)));
      svg.append(bar);
      if (v < 0) down = shown.stack ? to : down; else up = shown.stack ? to : up;
      sum += v;
      if (!shown.stack)
        svg.append(drawn('text', {x: s.x(Math.max(0, v)) + 4, y: y + BAR * i + 9, class: 'faint small'}, number(v)));
    });
    if (shown.stack)
      svg.append(drawn('text', {x: s.x(up) + 4, y: y + 13, class: 'faint small'}, number(sum)));
  });
  svg.append(drawn('line', {x1: s.x(0), x2: s.x(0), y1: top, y2: bottom, class: 'axis'}));
  back.setAttribute('height', bottom + 40);
  svg.setAttribute('viewBox', '0 0 ' + WIDTH + ' ' + (bottom + 40));
  svg.setAttribute('width', WIDTH);
  svg.setAttribute('height', bottom + 40);
  return svg;
}
function svgText(svg) { /* by itself it needs the styles of the page's pictures */
  const style = document.querySelector('figure svg style'), copy = svg.cloneNode(true);
  if (style) copy.insertBefore(style.cloneNode(true), copy.firstChild);
  return new XMLSerializer().serializeToString(copy);
}

/* ---- a study: choices, and what follows from them -------------------------------------------- */

function measures(study) { /* what can be shown: its columns in a cell */
  const first = study.axes.length, list = [];
  const numbers = first + study.overheads.length;
  const parts = study.parts.map((p, i) => numbers + study.measures.length + i);
  const known = at => study.cells.some(c => c[at] !== null);
  if (known(first)) {
    list.push({name: 'overhead, by where it goes', unit: 'percent', columns: parts, series: study.parts, stack: true});
    study.overheads.forEach((name, i) => list.push({name, unit: 'percent', columns: [first + i]}));
  } else if (parts.some(known)) {
    list.push({name: "the cores' time", unit: 'percent', columns: parts, series: study.parts, stack: true});
  }
  study.measures.forEach((m, i) => list.push({name: m.key, unit: m.unit, text: m.text, columns: [numbers + i]}));
  return list;
}
function mean(cells, column) {
  let sum = 0, n = 0;
  for (const c of cells) if (c[column] !== null) { sum += c[column]; n++; }
  return n ? +(sum / n).toPrecision(10) : null;
}
function grouped(study, cells, axes) { /* cells by their values on these axes, in the axes' order */
  const groups = new Map();
  for (const c of cells) {
    const key = axes.map(a => c[a]).join(' ');
    if (!groups.has(key)) groups.set(key, {places: axes.map(a => c[a]), cells: []});
    groups.get(key).cells.push(c);
  }
  const value = (g, k) => axes.length ? study.axes[axes[k]].values[g.places[k]] : 'all';
  const list = [...groups.values()].sort(function (a, b) {
    for (let i = 0; i < axes.length; i++) if (a.places[i] !== b.places[i]) return a.places[i] - b.places[i];
    return 0;
  });
  for (const g of list) g.name = axes.map((a, k) => value(g, k) === undefined ? '-' : value(g, k)).join(', ');
  return list;
}
function choice(label, options, chosen, changed) {
  const select = element('select', {});
  options.forEach((o, i) => select.append(element('option', {value: i, textContent: o, selected: i === chosen})));
  select.addEventListener('change', () => changed(+select.value));
  return element('label', {}, label + ' ', select);
}
function filter(axis, keep, changed) { /* keep: a set of places */
  const box = element('fieldset', {}, element('legend', {textContent: axis.name}));
  if (axis.values.length <= BOXES_MOST) {
    axis.values.forEach(function (v, i) {
      const tick = element('input', {type: 'checkbox', checked: true});
      tick.addEventListener('change', function () { tick.checked ? keep.add(i) : keep.delete(i); changed(); });
      box.append(element('label', {}, tick, ' ' + v));
    });
    return box;
  }
  const select = element('select', {multiple: true, size: 5});
  select.setAttribute('aria-label', axis.name);
  axis.values.forEach((v, i) => select.append(element('option', {value: i, textContent: v, selected: true})));
  select.addEventListener('change', function () {
    keep.clear();
    for (const o of select.selectedOptions) keep.add(+o.value);
    changed();
  });
  box.append(select);
  return box;
}
function table(study, cells) {
  const heads = study.axes.map(a => a.name).concat(study.overheads.map(name => name + ', %'), study.measures.map(m => m.key));
  const body = element('tbody', {}), more = element('button', {type: 'button'});
  const box = element('div', {className: 'wide', tabIndex: 0},
    element('table', {className: 'cells'}, element('thead', {},
      element('tr', {}, ...heads.map(h => element('th', {textContent: h})))), body));
  let shown = 0;
  function add() {
    for (const end = Math.min(cells.length, shown + ROWS_FIRST); shown < end; shown++)
      body.append(element('tr', {}, ...heads.map(function (h, i) {
        const v = cells[shown][i];
        if (i < study.axes.length)
          return element('td', {textContent: study.axes[i].values[v] === undefined ? '' : study.axes[i].values[v]});
        return element('td', {className: 'n', textContent: v === null ? '-' : i < study.axes.length + study.overheads.length ? v.toFixed(1) : v});
      })));
    more.textContent = (cells.length - shown) + ' more';
    more.hidden = shown >= cells.length;
  }
  more.addEventListener('click', add);
  add();
  return element('details', {}, element('summary', {textContent: 'The numbers of these cells'}), box, more);
}
function explore(place, study) {
  const axes = study.axes.map((a, i) => i).filter(i => study.axes[i].values.length > 1);
  if (study.cells.length < 3 || !axes.length) return;
  const what = measures(study), keep = study.axes.map(a => new Set(a.values.map((v, i) => i)));
  const policy = study.axes.findIndex(a => a.name === 'policy');
  const all = [-1].concat(axes), name = i => i < 0 ? 'nothing' : study.axes[i].name;
  const state = {what: 0, by: axes.includes(policy) ? policy : axes[0], and: -1};
  const output = element('div', {}), count = element('p', {className: 'count'});
  count.setAttribute('aria-live', 'polite');

  function shownNow(cells) {
    const m = what[state.what], by = [state.by].concat(m.stack && state.and >= 0 ? [state.and] : []).filter(a => a >= 0);
    const series = !m.stack && state.and >= 0 && state.and !== state.by ? grouped(study, cells, [state.and]) : null;
    const groups = grouped(study, cells, [...new Set(by)]);
    const rows = groups.map(r => ({name: r.name || 'all', values: m.stack ? m.columns.map(c => mean(r.cells, c))
      : series ? series.map(g => mean(r.cells.filter(c => c[state.and] === g.places[0]), m.columns[0]))
      : [mean(r.cells, m.columns[0])]}));
    return {title: m.name + (state.by >= 0 ? ' by ' + name(state.by) : ''), unit: m.unit + ', the mean of all else', stack: !!m.stack,
      series: m.stack ? m.series : series ? series.map(g => g.name) : [m.name],
      line: !m.stack && state.by >= 0 && study.axes[state.by].numbers, across: name(state.by),
      every: rows, rows: rows.slice(0, ROWS_MOST)};
  }
  function draw() {
    const cells = study.cells.filter(c => c.slice(0, keep.length).every((p, i) =>
      keep[i].has(p) || p >= study.axes[i].values.length));
    const shown = shownNow(cells), svg = picture(shown);
    count.textContent = cells.length + ' of ' + study.cells.length + ' cells';
    output.replaceChildren(element('div', {className: 'picture', tabIndex: 0}, svg),
      element('p', {className: 'count'}, 'What is shown: ',
        file('shown.svg', 'image/svg+xml', () => svgText(svg)), ' ',
        file('shown.csv', 'text/csv', () => csv(shown)), ' ',
        file('shown.gnuplot', 'text/plain', () => gnuplot(shown))), table(study, cells));
    if (typeof uPlot !== 'undefined' && shown.line && shown.every.length >= LINE_LEAST)
      line(shown, svg, output);
  }
  place.append(element('h3', {textContent: 'Look closer'}),
    choice('show', what.map(m => m.name), 0, function (i) { state.what = i; draw(); }),
    choice('by', all.map(name), all.indexOf(state.by), function (i) { state.by = all[i]; draw(); }),
    choice('and', all.map(name), 0, function (i) { state.and = all[i]; draw(); }));
  for (const i of axes) place.append(filter(study.axes[i], keep[i], draw));
  place.append(count, output);
  document.addEventListener('theme', draw);
  draw();
}

/* ---- uPlot, where the page has it: time lines, and axes of many numbers ------------------------------------------------ */

function lines(figure, place, box) { /* place: where the picture is, whose colours these are */
  const sums = figure.rows.map(() => 0), x = figure.rows.map(r => +r[0]);
  const levels = figure.series.map((s, i) => figure.rows.map((r, k) => sums[k] += r[i + 1] || 0));
  const colour = i => getComputedStyle(place.querySelector('.picture rect.s' + figure.looks[i] % 10)).fill;
  const series = figure.series.map((s, i) => ({label: s, stroke: colour(i), fill: colour(i), width: 0,
    points: {show: false}, paths: uPlot.paths.stepped({align: 1}),
    value: (u, v, k, at) => at === null || at === undefined ? '' : number(figure.rows[at][i + 1] || 0)}));
  const axis = {stroke: getComputedStyle(document.body).color, grid: {stroke: '#8884'}, ticks: {stroke: '#8884'}};
  const plot = element('div', {className: 'plot'});
  box.append(plot);
  /* What lies on top of others is drawn first. */
  new uPlot({width: place.clientWidth - 8, height: 280, cursor: {drag: {x: true, y: false}},
    scales: {x: {time: false}, y: {range: (u, least, most) => [0, most]}},
    axes: [Object.assign({label: figure.across}, axis), Object.assign({label: figure.unit}, axis)],
    series: [{label: figure.across}].concat(series.reverse())}, [x].concat(levels.reverse()), plot);
}
function amount(text) { /* 64Ki and the like, as the configuration has them */
  const [, digits, unit] = /^(0x[0-9a-f]+|[0-9]+)([kMG]i?|Ki)?$/i.exec(text) || [null, 'NaN', ''];
  const power = {'': 0, k: 1, m: 2, g: 3}[(unit || '').charAt(0).toLowerCase()];
  return Number(digits) * Math.pow(/i$/.test(unit || '') ? 1024 : 1000, power);
}
function line(shown, svg, output) { /* along an axis of many numbers, all of them */
  const plot = element('div', {className: 'plot'});
  output.prepend(plot);
  const colour = i => getComputedStyle(svg.querySelector('rect.s' + i % 10)).fill;
  const axis = {stroke: getComputedStyle(document.body).color, grid: {stroke: '#8884'}, ticks: {stroke: '#8884'}};
  new uPlot({width: output.clientWidth - 8, height: 280, scales: {x: {time: false}},
    axes: [Object.assign({label: shown.across}, axis), Object.assign({label: shown.unit}, axis)],
    series: [{label: shown.across}].concat(shown.series.map((s, i) => ({label: s, stroke: colour(i), width: 2})))},
    [shown.every.map(r => amount(r.name))].concat(shown.series.map((s, i) => shown.every.map(r => r.values[i]))), plot);
}
function timelines(all) {
  if (typeof uPlot === 'undefined') return;
  for (const figure of all) {
    const place = [...document.querySelectorAll('figure')].find(f => f.dataset.name === figure.name);
    const box = element('details', {}, element('summary',
      {textContent: 'Look closer: drag over a stretch of time; a double click shows all of it'}));
    const redraw = function () {
      box.querySelectorAll('.plot').forEach(p => p.remove());
      if (box.open) lines(figure, place, box);
    };
    box.addEventListener('toggle', redraw);
    document.addEventListener('theme', redraw);
    place.append(box);
  }
}

themes();
setTimeout(function () { /* after the page is seen */
  const data = JSON.parse(document.getElementById('data').textContent);
  for (const place of document.querySelectorAll('.explore')) explore(place, data.studies[place.dataset.study]);
  timelines(data.lines);
  document.documentElement.dataset.ready = 'yes';
}, 0);
})();
