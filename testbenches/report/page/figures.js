// Numbers of the report, apart from the page that shows them.
'use strict';

const figures = (() => {
  // Where there is nothing to take the median of: null.
  function median(values) {
    const sorted = values.filter((v) => v !== null && v !== undefined).sort((a, b) => a - b);
    if (sorted.length === 0) return null;
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  // A column as the program writes it, as a function of the row.
  function reader(column) {
    if (!column) return () => null;
    if (Array.isArray(column)) return (row) => column[row];
    if (column.index) return (row) => column.names[column.index[row]];
    return () => column.same;
  }

  // Whether values are better shown by their logarithm.
  function spreads(values) {
    const least = Math.min(...values);
    return values.length > 2 && least > 0 && Math.max(...values) / least >= 16;
  }

  // Kneedle: index of the point farthest from the straight line between the ends, on axes brought to 0..1; null when
  // there is none. The x must rise.
  function knee(xs, ys, by_logarithm) {
    const smallest_distance = 0.2, smallest_change = 0.05, fewest_points = 4;
    const n = xs.length;
    if (n < fewest_points) return null;
    const at = by_logarithm ? xs.map(Math.log) : xs;
    const range = Math.max(...ys) - Math.min(...ys);
    const change = ys[n - 1] - ys[0];
    if (range <= smallest_change * Math.max(...ys.map(Math.abs))) return null;
    // A curve that comes back has a peak, not a knee.
    if (Math.abs(change) < range / 2) return null;
    let best = null, farthest = smallest_distance;
    for (let i = 1; i < n - 1; ++i) {
      const x = (at[i] - at[0]) / (at[n - 1] - at[0]);
      const y = (ys[i] - ys[0]) / change;
      if (Math.abs(y - x) > farthest) {
        farthest = Math.abs(y - x);
        best = i;
      }
    }
    return best;
  }

  // Step functions [value, samples at or below, ...] of several runs as one: [[value, share], ...].
  function pooled(curves) {
    const steps = [];
    let total = 0;
    for (const curve of curves) {
      let before = 0;
      for (let i = 0; i < curve.length; i += 2) {
        steps.push([curve[i], curve[i + 1] - before]);
        before = curve[i + 1];
      }
      total += before;
    }
    steps.sort((a, b) => a[0] - b[0]);
    const result = [];
    let sum = 0;
    for (const [value, samples] of steps) {
      sum += samples;
      if (result.length && result[result.length - 1][0] === value) result[result.length - 1][1] = sum / total;
      else result.push([value, sum / total]);
    }
    return result;
  }

  function grouped(number, digits = 0) {
    return number.toLocaleString('en-US', { maximumFractionDigits: digits });
  }

  function number_text(value) {
    if (value === null || value === undefined) return 'none';
    const size = Math.abs(value);
    return grouped(value, size >= 1000 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 0.1 ? 3 : 6);
  }

  function time_text(ns) {
    if (ns === null || ns === undefined) return 'none';
    for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['µs', 1e3]]) {
      if (Math.abs(ns) >= size * 0.99995) return Number((ns / size).toPrecision(4)) + ' ' + unit;
    }
    return Number(ns.toPrecision(4)) + ' ns';
  }

  function factor_text(factor) {
    return '×' + (factor >= 100 ? grouped(factor) : factor >= 10 ? factor.toFixed(1) : factor.toFixed(2));
  }

  // 1, 10, 100 ...; with 2 and 5 in between where that gives few.
  function log_ticks(low, high) {
    const ticks = [];
    const wide = Math.log10(high / low) > 2.5;
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
      for (const step of wide ? [1] : [1, 2, 5]) {
        const tick = Number((step * 10 ** power).toPrecision(6));
        if (tick >= low * 0.9999 && tick <= high * 1.0001) ticks.push(tick);
      }
    }
    return ticks;
  }

  function shell_word(text) {
    return /^[A-Za-z0-9_.,:=\/+@%-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'";
  }

  return { median, reader, spreads, knee, pooled, number_text, time_text, factor_text, log_ticks, shell_word };
})();

if (typeof module !== 'undefined') module.exports = figures;
