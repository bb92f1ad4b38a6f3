'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const $ = id => document.getElementById(id);
  const steps = data.steps;
  const maker = 'http://www.w3.org/2000/svg';
  const finite = v => typeof v === 'number' && isFinite(v);

  // Four significant digits, a real minus sign.
  const show = v => !finite(v) ? '\u2013' : (v === 0 ? '0' : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-4
    ? v.toExponential(3) : String(+v.toPrecision(4))).replace('-', '\u2212');

  const put = (parent, tag, attributes, text) => {
    const node = document.createElementNS(maker, tag);
    for (const name in attributes) node.setAttribute(name, attributes[name]);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  };

  // Round numbers from low to high.
  const ticks = (low, high, most) => {
    const raw = (high - low) / most, unit = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map(f => f * unit).find(s => s >= raw * 0.999);
    const out = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step && out.length < 30; i++) out.push(+(i * step).toPrecision(12));
    return out;
  };

  // A frame with axes; returns the two maps from numbers to pixels.
  const frame = (svg, xs, ys, height, label) => {
    const width = 520, left = 58, right = 12, top = 10, bottom = 38;
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    let [x0, x1] = [Math.min(...xs), Math.max(...xs)], [y0, y1] = [Math.min(...ys), Math.max(...ys)];
    if (!(x1 > x0)) [x0, x1] = [x0 - 1, x1 + 1];
    if (!(y1 > y0)) [y0, y1] = [y0 - Math.abs(y0 || 1) * 0.1, y1 + Math.abs(y1 || 1) * 0.1];
    const air = 0.05 * (y1 - y0);
    [y0, y1] = [y0 - air, y1 + air];
    const x = v => left + (v - x0) / (x1 - x0) * (width - left - right);
    const y = v => height - bottom - (v - y0) / (y1 - y0) * (height - top - bottom);
    for (const t of ticks(y0, y1, 5)) {
      put(svg, 'line', {x1: left, x2: width - right, y1: y(t), y2: y(t), class: 'grid'});
      put(svg, 'text', {x: left - 6, y: y(t) + 4, 'text-anchor': 'end'}, show(t));
    }
    for (const t of ticks(x0, x1, 7)) if (Number.isInteger(t)) put(svg, 'text', {x: x(t), y: height - bottom + 17, 'text-anchor': 'middle'}, t);
    put(svg, 'path', {d: `M${left} ${top}V${height - bottom}H${width - right}`, class: 'axis'});
    put(svg, 'text', {x: (left + width - right) / 2, y: height - 4, 'text-anchor': 'middle', class: 'name'}, 'k');
    put(svg, 'text', {transform: `translate(12 ${(height - bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle', class: 'name'}, label);
    // A click or a drag chooses the nearest k.
    const choose = event => {
      const at = (event.clientX - svg.getBoundingClientRect().left) / svg.getBoundingClientRect().width * width;
      let best = 0;
      steps.forEach((s, i) => { if (Math.abs(x(s.k) - at) < Math.abs(x(steps[best].k) - at)) best = i; });
      go(best);
    };
    const area = put(svg, 'rect', {x: left, y: top, width: width - left - right, height: height - top - bottom, fill: 'transparent', class: 'click'});
    area.addEventListener('pointerdown', choose);
    area.addEventListener('pointermove', event => { if (event.buttons) choose(event); });
    return {x, y, top, bottom: height - bottom};
  };

  const ks = steps.map(s => s.k);
  const cursors = [];
  const cursor = (svg, f) => {
    if (data.chosen !== null) {
      const at = f.x(steps[data.chosen].k);
      put(svg, 'line', {x1: at, x2: at, y1: f.top, y2: f.bottom, class: 'chosen', 'pointer-events': 'none'});
    }
    const line = put(svg, 'line', {y1: f.top, y2: f.bottom, class: 'cursor', 'pointer-events': 'none'});
    cursors.push(i => { line.setAttribute('x1', f.x(ks[i])); line.setAttribute('x2', f.x(ks[i])); });
  };

  // The score (or the objective) over k, with its band.
  const scored = steps.some(s => finite(s.score));
  const level = s => scored ? s.score : s.objective;
  {
    const svg = $('score');
    const known = steps.filter(s => finite(level(s)));
    const ends = known.flatMap(s => finite(s.error) && scored ? [s.score - s.error, s.score + s.error] : [level(s)]);
    const f = frame(svg, ks, ends.length ? ends : [0, 1], 300, scored ? data.score : 'objective');
    const banded = known.filter(s => scored && finite(s.error));
    if (banded.length > 1) {
      const path = banded.map(s => `${f.x(s.k)} ${f.y(s.score + s.error)}`).concat(banded.slice().reverse().map(s => `${f.x(s.k)} ${f.y(s.score - s.error)}`));
      put(svg, 'path', {d: 'M' + path.join('L') + 'Z', class: 'band', 'pointer-events': 'none'});
    }
    put(svg, 'path', {d: 'M' + known.map(s => `${f.x(s.k)} ${f.y(level(s))}`).join('L'), class: 'mean', 'pointer-events': 'none'});
    if (known.length <= 60) known.forEach(s => put(svg, 'circle', {cx: f.x(s.k), cy: f.y(level(s)), r: 3.5, class: 'dot', 'pointer-events': 'none'}));
    cursor(svg, f);
    const ring = put(svg, 'circle', {r: 7.5, class: 'now', 'pointer-events': 'none'});
    cursors.push(i => {
      const v = level(steps[i]);
      ring.setAttribute('visibility', finite(v) ? 'visible' : 'hidden');
      if (finite(v)) { ring.setAttribute('cx', f.x(ks[i])); ring.setAttribute('cy', f.y(v)); }
    });
  }

  // The coefficient of feature number j at each k: 0 where it is not in the model.
  const tables = steps.map(s => new Map(s.support.map((j, i) => [j, s.coefficients[i]])));
  const lines = new Map();
  {
    const svg = $('paths');
    const all = steps.flatMap(s => s.coefficients).concat([0]);
    const f = frame(svg, ks, all, 300, 'coefficient');
    data.names.forEach((name, j) => {
      const d = steps.map((s, i) => `${f.x(s.k)} ${f.y(tables[i].get(j) ?? 0)}`).join('L');
      const line = put(svg, 'path', {d: 'M' + d, class: 'line', 'pointer-events': 'none'});
      put(line, 'title', {}, name);
      lines.set(j, line);
    });
    cursor(svg, f);
  }

  const hot = (j, on) => {
    lines.get(j)?.classList.toggle('hot', on);
    document.querySelectorAll(`[data-j="${j}"]`).forEach(row => row.classList.toggle('hot', on));
  };

  // The coefficients of one k as bars, the largest first.
  const bars = i => {
    const svg = $('bars'), s = steps[i], most = 60;
    svg.replaceChildren();
    const order = s.support.map((j, at) => [j, s.coefficients[at]]).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]) || a[0] - b[0]);
    const shown = order.slice(0, most), row = 20, width = 1040, left = 240;
    const size = Math.max(...shown.map(e => Math.abs(e[1])), 1e-300);
    const low = Math.min(0, ...shown.map(e => e[1])) / size, high = Math.max(0, ...shown.map(e => e[1])) / size;
    const x = v => left + (v / size - low) / (high - low || 1) * (width - left - 90);
    svg.setAttribute('viewBox', `0 0 ${width} ${Math.max(1, shown.length) * row + 8}`);
    if (!shown.length) put(svg, 'text', {x: left, y: 16}, 'no features');
    shown.forEach(([j, v], at) => {
      const g = put(svg, 'g', {class: 'row', 'data-j': j});
      const name = data.names[j], y = at * row;
      put(g, 'title', {}, `${name}: ${v}`);
      const cut = name.length > 34 ? name.slice(0, 33) + '\u2026' : name;
      put(g, 'text', {x: left - 8, y: y + 14, 'text-anchor': 'end', class: 'name'}, cut);
      put(g, 'rect', {x: Math.min(x(0), x(v)), y: y + 3, width: Math.max(1, Math.abs(x(v) - x(0))), height: row - 7, rx: 2, class: v < 0 ? 'bar minus' : 'bar'});
      put(g, 'text', {x: Math.max(x(0), x(v)) + 6, y: y + 14}, show(v));
      g.addEventListener('pointerenter', () => hot(j, true));
      g.addEventListener('pointerleave', () => hot(j, false));
    });
    $('more').textContent = order.length > most ? `${order.length - most} smaller coefficients are not drawn.` : '';
  };

  const fact = (name, value) => {
    const box = document.createElement('div'), dt = document.createElement('dt'), dd = document.createElement('dd');
    dt.textContent = name;
    dd.textContent = value;
    box.append(dt, dd);
    $('facts').appendChild(box);
  };

  let now = 0;
  const go = i => {
    now = Math.max(0, Math.min(steps.length - 1, i));
    const s = steps[now], before = now > 0 ? new Set(steps[now - 1].support) : new Set();
    $('slider').value = now;
    $('slider').setAttribute('aria-valuetext', `k = ${s.k}`);
    $('k').textContent = `k = ${s.k}${now === data.chosen ? ' (chosen)' : ''}`;
    $('facts').replaceChildren();
    if (finite(s.score)) fact(data.score, show(s.score) + (finite(s.error) ? ` \u00b1 ${show(s.error)}` : ''));
    fact('objective', show(s.objective));
    if (finite(s.gap)) fact('proven gap', `${show(s.gap)} (${show(100 * s.gap / Math.max(Math.abs(s.objective), 1e-300))} %)`);
    if (finite(s.intercept) && s.intercept !== 0) fact('intercept', show(s.intercept));
    fact('features', s.support.length);
    if (now > 0) {
      const here = new Set(s.support), names = list => list.slice(0, 3).map(j => data.names[j]).join(', ') + (list.length > 3 ? ` and ${list.length - 3} more` : '');
      const came = s.support.filter(j => !before.has(j)), gone = [...before].filter(j => !here.has(j));
      if (came.length) fact(`new since k = ${steps[now - 1].k}`, names(came));
      if (gone.length) fact(`gone since k = ${steps[now - 1].k}`, names(gone));
    }
    lines.forEach((line, j) => {
      const v = tables[now].get(j);
      line.classList.toggle('on', v !== undefined);
      line.classList.toggle('minus', v < 0);
    });
    cursors.forEach(move => move(now));
    bars(now);
  };

  if (steps.length) {
    $('slider').max = steps.length - 1;
    $('slider').addEventListener('input', () => go(+$('slider').value));
    $('back').addEventListener('click', () => go(now - 1));
    $('on').addEventListener('click', () => go(now + 1));
    $('best').hidden = data.chosen === null;
    $('best').addEventListener('click', () => go(data.chosen));
    go(data.chosen ?? steps.length - 1);
  }
})();
