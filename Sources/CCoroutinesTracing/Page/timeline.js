// SPDX-License-Identifier: Apache-2.0
//
// Draws a trace: rows of stretches on a canvas, arrows between them, and what can be read from both.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("trace").textContent);
  const RUNNING = 0, READY = 1, PARKED = 2, ASLEEP = 3, BLOCKED = 4;
  const MESSAGE = 0, WAKE = 1, LAUNCH = 2;
  const ROW = 20, HEAD = 24;
  const STATES = ["running", "ready", "parked", "asleep", "blocked"];
  const ARROWS = ["message", "wake", "launch"];
  const MARKS = ["cancellation asked for", "channel closed", "value dropped", "timer", "ended with an error"];

  // --- The data ---------------------------------------------------------------------------------

  // Times of sorted columns are kept as differences.
  const sums = (column) => {
    const result = new Float64Array(column.length);
    let sum = 0;
    for (let i = 0; i < column.length; i++) result[i] = sum += column[i];
    return result;
  };
  const lanes = data.lanes.map(([name, isThread]) => ({ name, isThread }));
  const coroutines = data.coroutines.map(([id, label, site, parent, ending], index) =>
    ({ index, id, label, site, parent, ending }));
  const objects = data.objects.map(([kind, label, site]) => ({ kind, label, site }));
  const operations = data.operations;
  const S = data.stretches, L = data.laneStretches, A = data.arrows, M = data.marks;
  const stretchStart = sums(S.start), laneStart = sums(L.start), arrowStart = sums(A.start), markTime = sums(M.start);
  const stretchCount = stretchStart.length;

  // Items: stretches of coroutines, then those of lanes.
  const isOfLane = (item) => item >= stretchCount;
  const startOf = (item) => isOfLane(item) ? laneStart[item - stretchCount] : stretchStart[item];
  const lengthOf = (item) => isOfLane(item) ? L.length[item - stretchCount] : S.length[item];
  const endOf = (item) => startOf(item) + lengthOf(item);
  const coroutineOf = (item) => isOfLane(item) ? L.coroutine[item - stretchCount] : S.coroutine[item];
  const offload = operations.indexOf("offload(_:)");
  const stateOf = (item) => {
    if (isOfLane(item)) return L.coroutine[item - stretchCount] < 0 ? ASLEEP : BLOCKED;
    const state = S.state[item];
    return state === PARKED && offload >= 0 && S.operation[item] === offload ? BLOCKED : state;
  };
  const whatOf = (item) => {
    const coroutine = coroutineOf(item), state = stateOf(item);
    if (isOfLane(item)) return state === ASLEEP ? "asleep" : `works for ${coroutines[coroutine].label}`;
    if (S.state[item] === RUNNING) return "running";
    if (S.state[item] === READY) return "ready";
    const operation = S.operation[item] < 0 ? "waiting" : operations[S.operation[item]];
    const subject = S.awaited[item] >= 0 ? ` of ${coroutines[S.awaited[item]].label}`
      : S.object[item] >= 0 ? ` on ${objects[S.object[item]].label}` : "";
    return operation + subject;
  };

  // Rows: a head, the lanes, a head, the coroutines.
  const rows = [];
  const rowOfLane = [], rowOfCoroutine = [];
  const addRow = (row) => { row.index = rows.length; row.items = []; rows.push(row); return row; };
  addRow({ head: true, label: `Loops and threads (${lanes.length})` });
  lanes.forEach((lane, i) => { rowOfLane[i] = addRow({ label: lane.name, lane: i, note: lane.isThread ? "thread" : "" }); });
  addRow({ head: true, label: `Coroutines (${coroutines.length})` });
  coroutines.forEach((c, i) => { rowOfCoroutine[i] = addRow({ label: c.label, coroutine: i, note: "" }); });
  for (let i = 0; i < stretchCount; i++) {
    rowOfCoroutine[S.coroutine[i]].items.push(i);
    if (S.state[i] === RUNNING && rowOfLane[S.lane[i]]) rowOfLane[S.lane[i]].items.push(i);
  }
  for (let i = 0; i < laneStart.length; i++) if (rowOfLane[L.lane[i]]) rowOfLane[L.lane[i]].items.push(stretchCount + i);
  for (const row of rows) {
    if (row.lane !== undefined) row.items.sort((a, b) => startOf(a) - startOf(b) || endOf(a) - endOf(b));
    row.marks = [];
  }
  for (let i = 0; i < markTime.length; i++) {
    const row = M.coroutine[i] >= 0 ? rowOfCoroutine[M.coroutine[i]] : rowOfLane[M.lane[i]];
    if (row) row.marks.push(i);
  }
  let y = 0;
  for (const row of rows) { row.y = y; row.height = row.head ? HEAD : ROW; y += row.height; }
  const totalHeight = y;
  const rowOfItem = (item) => isOfLane(item) ? rowOfLane[L.lane[item - stretchCount]] : rowOfCoroutine[S.coroutine[item]];

  // The rows at both ends of each arrow; -1 for none.
  const rowsOf = (coroutines, lanes) => Int32Array.from(coroutines, (coroutine, i) =>
    (coroutine >= 0 ? rowOfCoroutine[coroutine] : rowOfLane[lanes[i]])?.index ?? -1);
  const arrowFrom = rowsOf(A.fromCoroutine, A.fromLane), arrowTo = rowsOf(A.toCoroutine, A.toLane);
  const arrowEnd = (i) => arrowStart[i] + A.length[i];

  // --- Numbers as people read them ----------------------------------------------------------------

  const time = (ns) => {
    const size = Math.abs(ns);
    const [value, unit] = size >= 1e9 ? [ns / 1e9, "s"] : size >= 1e6 ? [ns / 1e6, "ms"] : size >= 1e3 ? [ns / 1e3, "µs"] : [ns, "ns"];
    return `${unit === "ns" ? Math.round(value) : Number(value.toPrecision(4))} ${unit}`;
  };
  const count = d3.format(",");
  const percent = (part, whole) => whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : "–";
  const plural = (n, one) => `${count(n)} ${one}${n === 1 ? "" : "s"}`;

  // --- State of the view -------------------------------------------------------------------------

  const canvas = $("canvas"), context = canvas.getContext("2d"), view = $("view");
  const first = Math.min(stretchCount ? stretchStart[0] : 0, laneStart.length ? laneStart[0] : Infinity);
  const begin = data.lost > 0 && isFinite(first) ? first : 0;
  const span = Math.max(data.duration - begin, 1);
  const whole = d3.scaleLinear().domain([begin, begin + span]);
  let x = whole.copy();
  let width = 1, height = 1, labelWidth = 230;
  let selected = null;           // an item
  let selectedRow = null;
  let hits = [], hitIndex = -1, hitRows = new Set(), hitItems = new Set();
  const shows = [true, true, true];
  const drawn = { items: 0, arrows: 0, thinned: false };
  let colours = {};

  const readColours = () => {
    const style = getComputedStyle(document.documentElement);
    colours = {};
    for (const name of ["page", "stripe", "head", "border", "text", "quiet", "accent", "mark", "running", "running-2", "ready",
      "parked", "blocked", "asleep", "message", "wake", "launch", "cancel", "on-colour"]) {
      colours[name] = style.getPropertyValue(`--${name}`).trim();
    }
  };

  // --- Drawing --------------------------------------------------------------------------------------

  let isScheduled = false;
  const redraw = () => {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => { isScheduled = false; draw(); });
  };

  // The first of a row's items that ends after `t`: they do not overlap.
  const firstAfter = (items, t) => {
    let low = 0, high = items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (endOf(items[middle]) < t) low = middle + 1; else high = middle;
    }
    return low;
  };
  const rowAt = (position) => {
    let low = 0, high = rows.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (rows[middle].y <= position) low = middle; else high = middle - 1;
    }
    return rows[low];
  };

  const fillOf = (row, item) => {
    const state = stateOf(item);
    // Neighbours on a loop are told apart.
    if (state === RUNNING) return row.lane !== undefined && coroutineOf(item) % 2 ? colours["running-2"] : colours.running;
    return colours[STATES[state]];
  };
  const INSET = { [RUNNING]: 2, [READY]: 5, [PARKED]: 7, [ASLEEP]: 7, [BLOCKED]: 4 };

  const drawRow = (row, top) => {
    const y = row.y - top;
    if (row.head) return;
    if (hitRows.has(row.index)) { context.globalAlpha = 0.25; context.fillStyle = colours.mark; context.fillRect(0, y, width, row.height); context.globalAlpha = 1; }
    const [t0, t1] = x.domain();
    let lastPixel = -1, lastState = -1;
    for (let i = firstAfter(row.items, t0); i < row.items.length; i++) {
      const item = row.items[i], start = startOf(item);
      if (start > t1) break;
      const state = stateOf(item);
      let from = Math.max(x(start), -2), to = Math.min(x(endOf(item)), width + 2);
      if (to - from < 1) {
        // Many in one pixel: what runs is seen, and one of the others.
        const pixel = Math.floor(from);
        if (pixel === lastPixel && (state !== RUNNING || lastState === RUNNING)) continue;
        lastPixel = pixel; lastState = state;
        from = pixel; to = pixel + 1;
      }
      const inset = INSET[state], isHit = hitItems.has(item);
      context.fillStyle = fillOf(row, item);
      context.fillRect(from, y + inset, to - from, row.height - 2 * inset);
      drawn.items++;
      if (isHit && to - from >= 2) { context.strokeStyle = colours.accent; context.lineWidth = 1.5; context.strokeRect(from, y + 2, to - from, row.height - 4); }
      if (to - from > 46 && state !== ASLEEP) drawText(row, item, from, to, y, state);
    }
    for (const mark of row.marks) {
      if (markTime[mark] < t0 || markTime[mark] > t1 || M.kind[mark] === 3) continue;
      const at = x(markTime[mark]);
      context.fillStyle = M.kind[mark] === 1 ? colours.quiet : colours.cancel;
      context.beginPath();
      context.moveTo(at, y + 7); context.lineTo(at - 4, y + 1); context.lineTo(at + 4, y + 1);
      context.fill();
    }
  };

  const drawText = (row, item, from, to, y, state) => {
    const text = row.lane !== undefined && state === RUNNING ? coroutines[coroutineOf(item)].label : whatOf(item);
    const room = Math.min(to, width) - Math.max(from, 0) - 8;
    const length = Math.floor(room / 6.2);
    if (length < 4) return;
    const shown = text.length > length ? `${text.slice(0, length - 1)}…` : text;
    const left = Math.max(from, 0) + 4;
    if (state === PARKED || state === READY) {
      // Beside the thin bar there is only the page: a plate keeps the letters legible.
      const plate = context.measureText(shown).width + 6;
      context.fillStyle = row.index % 2 ? colours.stripe : colours.page;
      context.fillRect(left - 3, y + 3, plate, row.height - 6);
      context.fillStyle = colours.text;
    } else {
      context.fillStyle = colours["on-colour"];
    }
    context.fillText(shown, left, y + row.height / 2 + 0.5);
  };

  const isOfSelection = (i) => {
    if (selected === null && selectedRow === null) return false;
    const coroutine = selected !== null ? coroutineOf(selected) : selectedRow.coroutine;
    if (A.fromCoroutine[i] !== coroutine && A.toCoroutine[i] !== coroutine) return false;
    if (selected === null || selectedRow?.lane !== undefined) return true;
    const from = startOf(selected), to = endOf(selected);
    return (A.fromCoroutine[i] === coroutine && arrowStart[i] >= from && arrowStart[i] <= to)
      // What ends a wait leads to the turn after it.
      || (A.toCoroutine[i] === coroutine && ((arrowEnd(i) >= from && arrowEnd(i) <= to) || (arrowStart[i] > from && arrowStart[i] <= to)));
  };

  const drawArrows = (top) => {
    const [t0, t1] = x.domain(), scale = width / (t1 - t0);
    const firstRow = rowAt(top).index, lastRow = rowAt(top + height).index;
    const candidates = [];
    for (let i = 0; i < arrowStart.length; i++) {
      if (arrowStart[i] > t1) break;
      if (!shows[A.kind[i]] || arrowEnd(i) < t0) continue;
      const from = arrowFrom[i], to = arrowTo[i];
      if (from < 0 || to < 0 || (from === to && A.length[i] * scale < 12)) continue;
      // Rows are numbered from top to bottom.
      if (Math.max(from, to) < firstRow || Math.min(from, to) > lastRow) continue;
      candidates.push(i);
    }
    const limit = 1500;
    drawn.thinned = candidates.length > limit;
    const step = Math.max(1, Math.ceil(candidates.length / limit));
    const dense = candidates.length > 150;
    candidates.forEach((i, place) => {
      const chosen = isOfSelection(i);
      if (!chosen && place % step) return;
      const from = rows[arrowFrom[i]], to = rows[arrowTo[i]];
      const x0 = x(arrowStart[i]), x1 = x(arrowEnd(i));
      const y0 = from.y - top + ROW / 2, y1 = to.y - top + ROW / 2;
      context.strokeStyle = context.fillStyle = colours[ARROWS[A.kind[i]]];
      context.lineWidth = chosen ? 2.2 : 1.1;
      context.globalAlpha = chosen ? 1 : selected !== null ? 0.25 : dense ? 0.4 : 0.8;
      const bend = Math.max(14, Math.min(60, Math.abs(x1 - x0) / 2));
      context.beginPath();
      context.moveTo(x0, y0);
      context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
      context.stroke();
      context.beginPath();
      context.moveTo(x1, y1); context.lineTo(x1 - 6, y1 - 3); context.lineTo(x1 - 6, y1 + 3);
      context.fill();
      drawn.arrows++;
    });
    context.globalAlpha = 1;
  };

  const draw = () => {
    const top = view.scrollTop;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colours.page;
    context.fillRect(0, 0, width, height);
    context.font = '11px system-ui, "DejaVu Sans", sans-serif';
    context.textBaseline = "middle";
    drawn.items = drawn.arrows = 0;
    const visible = [];
    for (let i = rowAt(top).index; i < rows.length && rows[i].y < top + height; i++) visible.push(rows[i]);
    for (const row of visible) {
      if (!row.head && row.index % 2 === 0) continue;
      context.fillStyle = row.head ? colours.head : colours.stripe;
      context.fillRect(0, row.y - top, width, row.height);
    }
    // The ticks of the axis, through all rows.
    context.strokeStyle = colours.border;
    context.globalAlpha = 0.5;
    context.lineWidth = 1;
    for (const tick of x.ticks(ticks())) {
      const at = Math.round(x(tick)) + 0.5;
      context.beginPath(); context.moveTo(at, 0); context.lineTo(at, height); context.stroke();
    }
    context.globalAlpha = 1;
    for (const row of visible) drawRow(row, top);
    drawArrows(top);
    if (selected !== null) drawSelection(top);
    drawLabels(visible, top);
    drawAxis();
    $("notice").textContent = drawn.thinned ? "Too many arrows for this view: some are left out. Zoom in for all." : "";
  };

  const drawSelection = (top) => {
    context.strokeStyle = colours.accent;
    context.lineWidth = 2;
    for (const row of new Set([rowOfItem(selected), S.state[selected] === RUNNING ? rowOfLane[S.lane[selected]] : null])) {
      if (!row) continue;
      const from = Math.max(x(startOf(selected)), -4), to = Math.min(x(endOf(selected)), width + 4);
      context.strokeRect(from - 1, row.y - top + 1, Math.max(to - from, 1) + 2, row.height - 2);
    }
  };

  const ticks = () => Math.max(2, Math.floor(width / 120));
  const drawAxis = () => {
    const [t0, t1] = x.domain(), step = x.ticks(ticks());
    const unit = step.length > 1 ? step[1] - step[0] : t1 - t0;
    const [size, name] = unit >= 1e9 ? [1e9, "s"] : unit >= 1e6 ? [1e6, "ms"] : unit >= 1e3 ? [1e3, "µs"] : [1, "ns"];
    const places = Math.max(0, -Math.floor(Math.log10(unit / size) + 1e-9));
    d3.select("#axis").call(
      d3.axisTop(x.copy().range([0, width])).ticks(ticks()).tickFormat((t) => `${(t / size).toFixed(Math.min(places, 3))} ${name}`).tickSizeOuter(0));
    d3.select("#axis").attr("transform", null).selectAll("g.tick")
      .attr("text-anchor", function () {
        const at = Number(/\(([-\d.]+)/.exec(this.getAttribute("transform"))[1]);
        return at < 20 ? "start" : at > width - 20 ? "end" : "middle";
      });
  };

  const labelPool = [];
  const drawLabels = (visible, top) => {
    const parent = $("labels");
    while (labelPool.length < visible.length) {
      const element = document.createElement("div");
      element.addEventListener("click", () => { if (!element.row.head) chooseRow(element.row); });
      labelPool.push(element);
      parent.append(element);
    }
    labelPool.forEach((element, place) => {
      const row = visible[place];
      element.hidden = !row;
      if (!row) return;
      element.style.transform = `translateY(${row.y - top}px)`;
      const chosen = row === selectedRow || (selected !== null && row === rowOfItem(selected));
      element.className = `label${row.head ? " head" : ""}${hitRows.has(row.index) ? " hit" : ""}${chosen ? " chosen" : ""}`;
      if (element.row === row) return;
      element.row = row;
      element.style.height = element.style.lineHeight = `${row.height}px`;
      element.textContent = row.label;
      element.title = row.coroutine !== undefined ? [row.label, coroutines[row.coroutine].site].filter(Boolean).join("\n") : row.label;
      if (row.note) { const note = document.createElement("small"); note.textContent = row.note; element.append(note); }
    });
  };

  // --- Zoom and pan ----------------------------------------------------------------------------------

  const zoom = d3.zoom()
    .scaleExtent([1, Math.max(2, span / 50)])
    .filter(() => !d3.event.button && !(d3.event.type === "wheel" && d3.event.shiftKey))
    .on("zoom", () => {
      x = d3.event.transform.rescaleX(whole);
      const source = d3.event.sourceEvent;
      if (source && source.type === "mousemove") view.scrollTop -= source.movementY;
      hideTip();
      redraw();
    })
    .on("end", () => { if ($("only-shown").checked) showStatistics(); });
  const target = d3.select(canvas);
  target.call(zoom);
  canvas.addEventListener("wheel", (event) => {
    if (!event.shiftKey) return;
    event.preventDefault();
    view.scrollTop += event.deltaY || event.deltaX;
  }, { passive: false });

  const zoomBy = (factor) => target.call(zoom.scaleBy, factor);
  const panBy = (part) => target.call(zoom.translateBy, -part * width / d3.zoomTransform(canvas).k, 0);
  const fit = () => target.call(zoom.transform, d3.zoomIdentity);
  const zoomTo = (from, to) => {
    const length = Math.max(to - from, 1), margin = length * 0.25;
    const k = Math.min(Math.max(span / (length + 2 * margin), 1), Math.max(2, span / 50));
    const shift = -whole((from + to) / 2) * k + width / 2;
    target.call(zoom.transform, d3.zoomIdentity.translate(shift, 0).scale(k));
  };
  const bringIntoView = (item) => {
    const row = rowOfItem(item);
    if (row.y < view.scrollTop || row.y + ROW > view.scrollTop + height) view.scrollTop = row.y - height / 2;
    const [t0, t1] = x.domain();
    if (endOf(item) < t0 || startOf(item) > t1 || lengthOf(item) > t1 - t0) zoomTo(startOf(item), endOf(item));
    else if (x(endOf(item)) - x(startOf(item)) < 3) {
      const half = Math.max(lengthOf(item) * 30, (t1 - t0) / 200);
      zoomTo(startOf(item) - half, endOf(item) + half);
    }
  };

  const resize = () => {
    labelWidth = $("labels").getBoundingClientRect().width;
    width = Math.max(50, view.clientWidth - labelWidth);
    height = view.clientHeight;
    $("spacer").style.height = `${Math.max(totalHeight, height)}px`;
    $("stage").style.height = `${height}px`;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const svg = $("axis");
    svg.setAttribute("viewBox", `0 -25 ${width} 26`);
    svg.style.width = `${width}px`;
    svg.style.flex = "none";
    whole.range([0, width]);
    zoom.extent([[0, 0], [width, height]]).translateExtent([[0, 0], [width, height]]);
    x = d3.zoomTransform(canvas).rescaleX(whole);
    redraw();
  };

  // --- What lies under the pointer ----------------------------------------------------------------

  const itemAt = (clientX, clientY) => {
    const box = canvas.getBoundingClientRect();
    const row = rowAt(clientY - box.top + view.scrollTop);
    if (row.head || clientY - box.top + view.scrollTop > totalHeight) return [null, null];
    const t = x.invert(clientX - box.left), slack = x.invert(3) - x.invert(0);
    for (let i = firstAfter(row.items, t - slack); i < row.items.length; i++) {
      const item = row.items[i];
      if (startOf(item) > t + slack) break;
      if (endOf(item) >= t || endOf(item) >= t - slack) return [item, row];
    }
    return [null, row];
  };
  const tip = $("tip");
  const hideTip = () => { tip.hidden = true; };
  canvas.addEventListener("mousemove", (event) => {
    if (event.buttons) return hideTip();
    const [item, row] = itemAt(event.clientX, event.clientY);
    if (item === null) return hideTip();
    const who = coroutineOf(item) >= 0 && !isOfLane(item) ? coroutines[coroutineOf(item)].label : row.label;
    tip.textContent = "";
    const title = document.createElement("b");
    title.textContent = who;
    tip.append(title, `${whatOf(item)} for ${time(lengthOf(item))}, from ${time(startOf(item) - begin)}`);
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - box.width - 8)}px`;
    tip.style.top = `${event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18}px`;
  });
  canvas.addEventListener("mouseleave", hideTip);
  canvas.addEventListener("click", (event) => {
    const [item, row] = itemAt(event.clientX, event.clientY);
    if (item !== null) choose(item); else if (row) chooseRow(row); else letGo();
  });

  // --- Selection --------------------------------------------------------------------------------------

  const showTab = (name) => {
    for (const tab of ["statistics", "details"]) {
      $(tab).hidden = tab !== name;
      $(`tab-${tab}`).setAttribute("aria-selected", String(tab === name));
    }
  };
  const choose = (item) => { selected = item; selectedRow = null; showDetails(); showTab("details"); redraw(); };
  const chooseRow = (row) => {
    selectedRow = row; selected = null;
    if (row.y < view.scrollTop || row.y + ROW > view.scrollTop + height) view.scrollTop = row.y - height / 2;
    showDetails(); showTab("details"); redraw();
  };
  const letGo = () => { selected = null; selectedRow = null; showDetails(); showTab("statistics"); redraw(); };
  const step = (by) => {
    if (selected === null) return;
    const items = rowOfItem(selected).items, next = items[items.indexOf(selected) + by];
    if (next === undefined) return;
    choose(next);
    bringIntoView(next);
  };

  const link = (text, action) => {
    const button = document.createElement("button");
    button.type = "button"; button.className = "link"; button.textContent = text;
    button.addEventListener("click", action);
    return button;
  };
  const coroutineLink = (index) => link(coroutines[index].label, () => chooseRow(rowOfCoroutine[index]));
  const listOf = (entries) => {
    const list = document.createElement("dl");
    for (const [term, ...values] of entries) {
      if (values[0] === undefined || values[0] === null || values[0] === "") continue;
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = term;
      dd.append(...values);
      list.append(dt, dd);
    }
    return list;
  };
  const heading = (text) => { const h = document.createElement("h2"); h.textContent = text; return h; };

  const showDetails = () => {
    const panel = $("details");
    panel.textContent = "";
    if (selected === null && selectedRow === null) {
      const p = document.createElement("p");
      p.className = "empty";
      p.textContent = "Nothing is selected. Click a stretch or a name.";
      panel.append(p);
      return;
    }
    const coroutine = selected !== null ? coroutineOf(selected) : selectedRow.coroutine;
    if (selected !== null) {
      const lane = isOfLane(selected) ? L.lane[selected - stretchCount] : S.lane[selected];
      const object = isOfLane(selected) ? -1 : S.object[selected];
      panel.append(heading(whatOf(selected)), listOf([
        ["state", STATES[stateOf(selected)]],
        ["from", time(startOf(selected) - begin)],
        ["for", time(lengthOf(selected))],
        [isOfLane(selected) || S.state[selected] === RUNNING ? "on" : "last on", lanes[lane]?.name ?? "?"],
        ["waits for", object >= 0 ? objects[object].label : !isOfLane(selected) && S.awaited[selected] >= 0 ? coroutineLink(S.awaited[selected]) : ""],
        ["made at", object >= 0 ? objects[object].site : ""],
      ]));
      panel.append(link("Zoom to it (f)", () => zoomTo(startOf(selected), endOf(selected))));
      showArrows(panel, coroutine);
    }
    if (coroutine === undefined || coroutine < 0) {
      if (selectedRow) panel.append(heading(selectedRow.label), laneFacts(selectedRow));
      return;
    }
    const c = coroutines[coroutine], sums = timesOf(rowOfCoroutine[coroutine], begin, begin + span);
    panel.append(heading(c.label), listOf([
      ["number", String(c.id)],
      ["launched at", c.site],
      ["launched by", c.parent >= 0 ? coroutineLink(c.parent) : ""],
      ["ended", c.ending === null ? "not while it was recorded" : { value: "normally", error: "with an error", cancelled: "cancelled" }[c.ending]],
      ["turns", count(sums.turns)],
      ["running", time(sums[RUNNING])],
      ["ready", time(sums[READY])],
      ["parked", time(sums[PARKED] + sums[BLOCKED])],
    ]));
    const children = coroutines.filter((other) => other.parent === coroutine);
    if (children.length) {
      panel.append(heading(`It launched ${plural(children.length, "coroutine")}`));
      for (const child of children.slice(0, 30)) { const p = document.createElement("div"); p.append(coroutineLink(child.index)); panel.append(p); }
    }
  };

  const showArrows = (panel, coroutine) => {
    const entries = [];
    for (let i = 0; i < arrowStart.length && entries.length < 20; i++) {
      if (!isOfSelection(i)) continue;
      const isOut = A.fromCoroutine[i] === coroutine;
      const other = isOut ? A.toCoroutine[i] : A.fromCoroutine[i];
      const verb = [["sends to", "receives from"], ["wakes", "woken by"], ["launches", "launched by"]][A.kind[i]][isOut ? 0 : 1];
      const through = A.object[i] >= 0 ? ` through ${objects[A.object[i]].label}` : "";
      entries.push([verb, other >= 0 ? coroutineLink(other) : "the loop, or another thread", `${through}, ${time(A.length[i])} on the way`]);
    }
    if (entries.length) panel.append(heading("What leads here and away"), listOf(entries));
  };
  const laneFacts = (row) => {
    const sums = timesOf(row, begin, begin + span);
    return listOf([
      ["busy", `${time(sums[RUNNING] + sums[BLOCKED])} (${percent(sums[RUNNING] + sums[BLOCKED], span)})`],
      ["asleep", `${time(sums[ASLEEP])} (${percent(sums[ASLEEP], span)})`],
      ["turns", count(sums.turns)],
    ]);
  };

  // --- Search -----------------------------------------------------------------------------------------

  const search = () => {
    const query = $("query").value.trim().toLowerCase();
    hits = []; hitIndex = -1; hitRows = new Set(); hitItems = new Set();
    if (query) {
      const has = (text) => text !== null && text.toLowerCase().includes(query);
      for (const row of rows) {
        const c = row.coroutine !== undefined ? coroutines[row.coroutine] : null;
        if (row.head || !(has(row.label) || (c && (query === `#${c.id}` || has(c.site))))) continue;
        hitRows.add(row.index);
        if (row.items.length) hits.push({ row, item: row.items[0] });
      }
      const matchingOperations = new Set(operations.flatMap((text, i) => has(text) ? [i] : []));
      const matchingObjects = new Set(objects.flatMap((o, i) => has(o.label) || has(o.site) ? [i] : []));
      for (let i = 0; i < stretchCount && (matchingOperations.size || matchingObjects.size); i++) {
        if (S.state[i] !== PARKED) continue;
        if (matchingOperations.has(S.operation[i]) || matchingObjects.has(S.object[i])) {
          hitItems.add(i);
          hits.push({ row: rowOfItem(i), item: i });
        }
      }
    }
    showHits();
    redraw();
  };
  const showHits = () => {
    $("hits").textContent = !$("query").value.trim() ? "" : hits.length === 0 ? "no hit"
      : hitIndex < 0 ? plural(hits.length, "hit") : `${count(hitIndex + 1)} of ${count(hits.length)}`;
  };
  const goToHit = (by) => {
    if (!hits.length) return;
    hitIndex = hitIndex < 0 && by < 0 ? hits.length - 1 : (hitIndex + by + hits.length) % hits.length;
    const { item } = hits[hitIndex];
    choose(item);
    bringIntoView(item);
    showHits();
  };
  $("query").addEventListener("input", search);
  $("search").addEventListener("submit", (event) => { event.preventDefault(); goToHit(1); });
  $("previous").addEventListener("click", () => goToHit(-1));

  // --- Statistics -------------------------------------------------------------------------------------

  // How long a row was in each state between two moments.
  const timesOf = (row, t0, t1) => {
    const sums = [0, 0, 0, 0, 0];
    sums.turns = 0;
    for (let i = firstAfter(row.items, t0); i < row.items.length; i++) {
      const item = row.items[i], start = startOf(item);
      if (start > t1) break;
      const state = stateOf(item);
      sums[state] += Math.max(0, Math.min(endOf(item), t1) - Math.max(start, t0));
      if (state === RUNNING) sums.turns++;
    }
    return sums;
  };
  const table = (title, id, heads, lines, whenEmpty) => {
    const section = document.createElement("section");
    section.id = id;
    section.append(heading(title));
    if (!lines.length) {
      const p = document.createElement("p");
      p.className = "empty"; p.textContent = whenEmpty;
      section.append(p);
      return section;
    }
    const element = document.createElement("table"), head = element.createTHead().insertRow(), body = element.createTBody();
    for (const [text, kind] of heads) { const th = document.createElement("th"); th.textContent = text; th.className = kind; th.scope = "col"; head.append(th); }
    for (const { cells, go } of lines) {
      const tr = body.insertRow();
      cells.forEach((cell, i) => { const td = tr.insertCell(); td.className = heads[i][1]; td.append(cell); });
      if (go) { tr.className = "go"; tr.tabIndex = 0; tr.addEventListener("click", go); tr.addEventListener("keydown", (e) => { if (e.key === "Enter") go(); }); }
    }
    section.append(element);
    return section;
  };
  const bar = (parts, whole) => {
    const element = document.createElement("div");
    element.className = "bar";
    for (const [state, part] of parts) {
      const i = document.createElement("i");
      i.className = state;
      i.style.width = `${whole > 0 ? 100 * part / whole : 0}%`;
      element.append(i);
    }
    return element;
  };

  // The first of each kind, in this order, and how many there are of it.
  const firstOfEach = (items, kindOf) => {
    const kinds = new Map();
    for (const item of items) {
      const kind = kindOf(item), known = kinds.get(kind);
      if (known) known.times++; else kinds.set(kind, { item, times: 1 });
    }
    return [...kinds.values()];
  };
  const withTimes = (text, times) => times > 1 ? `${text}, ${count(times)} times` : text;

  const showStatistics = () => {
    const [t0, t1] = $("only-shown").checked ? x.domain() : [begin, begin + span];
    const clip = (item) => Math.max(0, Math.min(endOf(item), t1) - Math.max(startOf(item), t0));
    const parts = [];

    const loops = lanes.map((lane, i) => ({ row: rowOfLane[i], sums: timesOf(rowOfLane[i], t0, t1) }));
    parts.push(table("Loops: how busy", "loops", [["loop", "text"], ["busy", "number"], ["turns", "number"], ["", "text"]],
      loops.map(({ row, sums }) => {
        const busy = sums[RUNNING] + sums[BLOCKED];
        return { cells: [row.label, percent(busy, t1 - t0), count(sums.turns),
          bar([["running", sums[RUNNING]], ["blocked", sums[BLOCKED]], ["asleep", sums[ASLEEP]]], t1 - t0)], go: () => chooseRow(row) };
      }), "No loop."));

    const turns = [];
    for (let i = 0; i < stretchCount; i++) if (S.state[i] === RUNNING && clip(i) > 0) turns.push(i);
    turns.sort((a, b) => clip(b) - clip(a));
    parts.push(table("Longest turns", "turns", [["time", "number"], ["who", "text"], ["loop", "text"]],
      firstOfEach(turns, (item) => `${S.coroutine[item]} ${S.lane[item]}`).slice(0, 12).map(({ item, times }) => ({
        cells: [time(clip(item)), coroutines[S.coroutine[item]].label, withTimes(lanes[S.lane[item]]?.name ?? "", times)],
        go: () => { choose(item); bringIntoView(item); } })), "Nobody ran."));

    const waits = [];
    for (let i = 0; i < stretchCount; i++) if (S.state[i] === PARKED && clip(i) > 0) waits.push(i);
    waits.sort((a, b) => clip(b) - clip(a));
    parts.push(table("Longest waits", "waits", [["time", "number"], ["who", "text"], ["where", "text"]],
      firstOfEach(waits, (i) => `${S.coroutine[i]} ${S.operation[i]} ${S.awaited[i]} ${S.object[i]}`).slice(0, 12).map(({ item, times }) => ({
        cells: [time(clip(item)), coroutines[S.coroutine[item]].label, withTimes(whatOf(item), times)],
        go: () => { choose(item); bringIntoView(item); } })), "Nobody waited."));

    const channels = objects.map((object, i) => ({ object, i, values: 0, waiting: 0, waits: 0 })).filter((c) => c.object.kind === "channel");
    const byObject = new Map(channels.map((c) => [c.i, c]));
    for (let i = 0; i < arrowStart.length; i++) {
      if (A.kind[i] === MESSAGE && arrowEnd(i) >= t0 && arrowEnd(i) <= t1 && byObject.has(A.object[i])) byObject.get(A.object[i]).values++;
    }
    for (const item of waits) {
      const channel = byObject.get(S.object[item]);
      if (channel) { channel.waiting += clip(item); channel.waits++; }
    }
    const busiest = channels.filter((c) => c.values || c.waits).sort((a, b) => b.values - a.values || b.waiting - a.waiting);
    parts.push(table("Busiest channels", "channels", [["channel", "text"], ["values", "number"], ["waits", "number"], ["waited", "number"]],
      busiest.slice(0, 12).map((c) => ({ cells: [c.object.label.replace(/^channel /, ""), count(c.values), count(c.waits), time(c.waiting)],
        go: () => { $("query").value = c.object.label; search(); goToHit(1); } })), "No channel was used."));

    const people = coroutines.map((c, i) => ({ c, sums: timesOf(rowOfCoroutine[i], t0, t1) }))
      .filter(({ sums }) => sums[RUNNING] + sums[READY] + sums[PARKED] + sums[BLOCKED] > 0)
      .sort((a, b) => b.sums[RUNNING] - a.sums[RUNNING]);
    parts.push(table("Time per coroutine", "coroutines", [["coroutine", "text"], ["running", "number"], ["ready", "number"], ["parked", "number"]],
      people.slice(0, 15).map(({ c, sums }) => ({ cells: [c.label, time(sums[RUNNING]), time(sums[READY]), time(sums[PARKED] + sums[BLOCKED])],
        go: () => chooseRow(rowOfCoroutine[c.index]) })), "No coroutine."));
    $("tables").replaceChildren(...parts);
  };
  $("only-shown").addEventListener("change", showStatistics);

  // --- Keyboard and buttons -------------------------------------------------------------------------

  const setTheme = (theme) => { document.documentElement.dataset.theme = theme; readColours(); redraw(); };
  const toggleTheme = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  const help = $("help");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target === $("query");
    if (event.key === "Escape") {
      if (help.open) return;
      $("query").value = ""; search(); letGo(); canvas.focus();
      return;
    }
    if (isTyping) {
      if (event.key === "Enter" && event.shiftKey) { event.preventDefault(); goToHit(-1); }
      return;
    }
    if (help.open) return;
    const scroll = (by) => { view.scrollTop += by; };
    const actions = {
      w: () => zoomBy(1.5), "+": () => zoomBy(1.5), "=": () => zoomBy(1.5), s: () => zoomBy(1 / 1.5), "-": () => zoomBy(1 / 1.5),
      a: () => panBy(-0.2), ArrowLeft: () => panBy(-0.2), d: () => panBy(0.2), ArrowRight: () => panBy(0.2),
      ArrowUp: () => scroll(-3 * ROW), ArrowDown: () => scroll(3 * ROW), PageUp: () => scroll(-height), PageDown: () => scroll(height),
      0: fit, f: () => { if (selected !== null) zoomTo(startOf(selected), endOf(selected)); },
      ",": () => step(-1), ".": () => step(1), t: toggleTheme,
      "/": () => { $("query").focus(); $("query").select(); }, "?": () => help.showModal(),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  $("zoom-in").addEventListener("click", () => zoomBy(1.5));
  $("zoom-out").addEventListener("click", () => zoomBy(1 / 1.5));
  $("fit").addEventListener("click", fit);
  $("theme").addEventListener("click", toggleTheme);
  $("help-button").addEventListener("click", () => help.showModal());
  $("tab-statistics").addEventListener("click", () => showTab("statistics"));
  $("tab-details").addEventListener("click", () => showTab("details"));
  ARROWS.forEach((name, kind) => $(`show-${name}`).addEventListener("change", (event) => { shows[kind] = event.target.checked; redraw(); }));
  view.addEventListener("scroll", () => { hideTip(); redraw(); });
  window.addEventListener("resize", resize);

  // --- Start --------------------------------------------------------------------------------------------

  document.title = data.title;
  $("title").textContent = data.title;
  const facts = $("facts");
  facts.textContent = `${time(data.duration)}, ${plural(data.events, "event")}, ${plural(coroutines.length, "coroutine")}, ${count(lanes.length)} ${lanes.length === 1 ? "loop" : "loops and threads"}`;
  if (data.lost > 0) {
    const lost = document.createElement("span");
    lost.className = "lost";
    lost.textContent = ` – ${plural(data.lost, "older event")} lost: the rings were full`;
    facts.append(lost);
  }
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  showDetails();
  resize();
  showStatistics();
  // For tests: what is shown.
  window.timeline = {
    get shown() { return x.domain(); }, get drawn() { return { ...drawn }; }, get hits() { return hits.length; },
    get selection() { return selected === null ? null : { what: whatOf(selected), start: startOf(selected), length: lengthOf(selected) }; },
    get scroll() { return view.scrollTop; }, draw,
    place: (coroutine, state) => {
      // The middle of the widest stretch of a coroutine in a state, in pixels of the window.
      const row = rowOfCoroutine[coroutine], box = canvas.getBoundingClientRect();
      let best = null;
      for (const item of row.items) if (STATES[stateOf(item)] === state && (best === null || lengthOf(item) > lengthOf(best))) best = item;
      if (best === null) return null;
      return { x: box.left + x(startOf(best) + lengthOf(best) / 2), y: box.top + row.y + ROW / 2 - view.scrollTop };
    },
  };
})();
