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

  // Math.min and Math.max take so many arguments only.
  const least = (values) => values.reduce((a, b) => (b < a ? b : a), Infinity);
  const greatest = (values) => values.reduce((a, b) => (b > a ? b : a), -Infinity);

  // A column as the program writes it, as a function of the row.
  function reader(column) {
    if (!column) return () => null;
    if (Array.isArray(column)) return (row) => column[row];
    if (column.index) return (row) => column.names[column.index[row]];
    return () => column.same;
  }

  // Whether values are better shown by their logarithm.
  function spreads(values) {
    const low = least(values);
    return values.length > 2 && low > 0 && greatest(values) / low >= 16;
  }

  // Kneedle: index of the point farthest from the straight line between the ends, on axes brought to 0..1; null when
  // there is none. The x must rise.
  function knee(xs, ys, by_logarithm) {
    const smallest_distance = 0.2, smallest_change = 0.05, fewest_points = 4;
    const n = xs.length;
    if (n < fewest_points) return null;
    const at = by_logarithm ? xs.map(Math.log) : xs;
    const range = greatest(ys) - least(ys);
    const change = ys[n - 1] - ys[0];
    if (range <= smallest_change * greatest(ys.map(Math.abs))) return null;
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

  // By hand: toLocaleString takes seconds for a table of 100,000 points.
  function grouped(number, digits = 0) {
    const [whole, fraction] = String(Number(number.toFixed(digits))).split('.');
    return whole.replace(/\B(?=(\d{3})+$)/g, ',') + (fraction ? '.' + fraction : '');
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

  // 1, 10, 100 ...; with others in between where that gives few.
  function log_ticks(low, high) {
    const decades = Math.log10(high / low);
    const steps = decades > 2.5 ? [1] : decades > 0.9 ? [1, 2, 5] : [1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9];
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
      for (const step of steps) {
        const tick = Number((step * 10 ** power).toPrecision(6));
        if (tick >= low * 0.9999 && tick <= high * 1.0001) ticks.push(tick);
      }
    }
    return ticks;
  }

  function shell_word(text) {
    return /^[A-Za-z0-9_.,:=\/+@%-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'";
  }

  return { median, least, greatest, reader, spreads, knee, pooled, number_text, time_text, factor_text, log_ticks, shell_word };
})();

if (typeof module !== 'undefined') module.exports = figures;
