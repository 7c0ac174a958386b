// Runs inside the page of the small study (render.cpp), behind its own code, and says in an element of its own what went wrong.
'use strict';

(async () => {
  const failures = [];
  let number = 0;
  function check(what, got, wanted) {
    number += 1;
    if (JSON.stringify(got) !== JSON.stringify(wanted)) failures.push(what + ': ' + JSON.stringify(got) + ', not ' + JSON.stringify(wanted));
  }
  const $ = (id) => document.getElementById(id);
  // The marks of a chart come a moment later.
  const moment = () => new Promise((resolve) => setTimeout(resolve, 20));
  const choose = async (id, value) => {
    $(id).value = value;
    $(id).dispatchEvent(new Event('change', { bubbles: true }));
    await moment();
  };
  const texts = (id) => [...$(id).tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent));

  // Figures.
  const f = figures;
  check('median of odd', f.median([5, 1, 3]), 3);
  check('median of even', f.median([1, 2, 4, 9]), 3);
  check('median leaves out what is not there', f.median([null, 7, undefined]), 7);
  check('median of nothing', f.median([null]), null);
  const many = Array.from({ length: 500000 }, (unused, i) => (i * 7919) % 500000);
  check('least and greatest of many', [f.least(many), f.greatest(many)], [0, 499999]);
  const xs = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  check('knee of a hockey stick', f.knee(xs, xs.map((x) => (x <= 6 ? 10 : 10 + 50 * (x - 6)))), 6);
  check('knee of a curve that levels off', f.knee(xs, xs.map((x) => Math.min(x, 2) * 100)), 2);
  check('knee of a falling curve', f.knee(xs, xs.map((x) => (x < 3 ? 90 - 30 * x : 0))), 3);
  check('knee at 64 of an axis by logarithm', f.knee([1, 4, 16, 64, 256, 1024], [5, 5, 5, 5, 500, 1000], true), 3);
  check('no knee in a straight line', f.knee(xs, xs.map((x) => 3 * x + 1)), null);
  check('no knee in a flat curve', f.knee(xs, xs.map((x) => 1000 + (x > 5 ? 1 : 0))), null);
  check('no knee in a peak', f.knee([1, 2, 3, 4, 5], [1, 1, 9, 1, 1]), null);
  check('no knee in three points', f.knee([1, 2, 3], [1, 1, 9]), null);
  check('two runs as one', f.pooled([[10, 1, 20, 4], [10, 3, 30, 4]]), [[10, 0.5], [20, 0.875], [30, 1]]);
  check('times', [999, 1000, 1234567, 4257000, 2.5e9].map(f.time_text), ['999 ns', '1 µs', '1.235 ms', '4.257 ms', '2.5 s']);
  check('no time', f.time_text(null), 'none');
  check('numbers', [0, 999, 1000, 1234567, -1234, 1234.5, 12.345, 0.5, 0.00001].map(f.number_text),
        ['0', '999', '1,000', '1,234,567', '-1,234', '1,235', '12.3', '0.5', '0.00001']);
  check('words of a shell', [f.shell_word('a=1'), f.shell_word('a=["b c"]'), f.shell_word("it's")], ['a=1', "'a=[\"b c\"]'", "'it'\\''s'"]);
  check('columns', [f.reader({ same: 3 })(9), f.reader([4, 5])(1), f.reader({ names: ['a', null], index: [0, 1] })(1)], [3, 5, null]);

  await moment();
  // The view as it opens: what losing the RTU costs stands there in words.
  check('what it costs', $('answer').textContent.includes('When cm.rtu_loss (probability that an RTU is lost) goes from 0 to 1')
        && $('answer').textContent.includes(', answer p99 (command in to answer out; 99 % take no longer) goes from ')
        && $('answer').textContent.includes('with software') && $('answer').textContent.includes('stays as it is (within 2 %) with hardware, packet'), true);
  check('knee of the slow design', texts('cost_ends')[1][8], 'cm.rtu_loss = 0.25');
  check('no knee of the fast design', texts('cost_ends')[0][8], 'none');
  check('two charts', $('cost_charts').querySelectorAll('svg').length, 2);
  check('a line for each design', $('cost_charts').querySelectorAll('.mark-line path').length, 4);
  check('every chart says what it shows', [...document.querySelectorAll('.charts svg')].every((svg) => svg.getAttribute('aria-label').length > 20), true);
  check('charts', document.querySelectorAll('.charts svg').length, 6);
  check('who did not wait has no wait', texts('gate_figures')[0].slice(4), ['0', '0', 'none', 'none', 'none']);
  check('the answer stands before what can be chosen', Boolean($('answer').compareDocumentPosition($('view')) & Node.DOCUMENT_POSITION_FOLLOWING), true);
  check('what the designs are', [$('named_title').textContent, texts('named_sets')], ['What each design is',
        [['hardware, packet', 'gate.open_on=["rtu", "packet"] gate.policy=hardware'], ['software', 'gate.policy=software']]]);
  check('every control has a label', [...document.querySelectorAll('select, input')].every((control) => control.labels.length === 1), true);

  // Other choices.
  await choose('unit', 'cycles');
  check('cycles', texts('spread_figures')[0][1], '1,506');
  await choose('measure', 'waited');
  check('a count has one figure', [...$('figure').options].map((o) => o.value), ['value']);
  check('waited', texts('cost_figures').filter((row) => row[0] === 'software').map((row) => row[2]), ['0', '42', '42', '42', '41.5']);
  check('one chart', $('cost_charts').querySelectorAll('svg').length, 1);
  await choose('measure', 'counter:cm.rtu_sent');
  check('a counter', texts('cost_figures')[1].slice(0, 3), ['hardware, packet', '0.25', '7']);
  await choose('measure', 'wait');
  check('no line without samples', $('cost_charts').querySelectorAll('.mark-line path').length, 2);
  await choose('measure', 'answer');
  await choose('series', '');
  check('one line', $('cost_charts').querySelectorAll('.mark-line path').length, 2);
  await choose('fixed:design', 'software');
  check('one design', texts('cost_ends')[0][1], '1,606');
  await choose('along', 'design');
  check('words along', texts('cost_figures').map((row) => row[1]), ['hardware, packet', 'software']);
  await choose('along', 'cm.rtu_loss');
  await choose('series', 'design');
  await choose('bars', 'all');
  check('all bars', $('stages_figures').tBodies[0].rows.length, 10);
  await choose('heat_x', 'design');
  check('heat map turned', texts('heat_figures').length, 5);
  check('the address has the view', location.hash.includes('unit=cycles'), true);

  // The table: sorting, what is missing last, search.
  const column = (label) => [...$('point_table').tHead.rows[0].cells].findIndex((cell) => cell.textContent === label);
  const shown = (label) => [...$('point_table').tBodies[0].rows].map((row) => row.cells[column(label)].textContent);
  const press = (label) => $('point_table').tHead.rows[0].cells[column(label)].firstChild.click();
  const sort_of = (label) => $('point_table').tHead.rows[0].cells[column(label)].getAttribute('aria-sort');
  check('all points', shown('point').length, 30);
  press('answer p99');
  check('sorted upwards', [shown('answer p99')[0], shown('answer p99')[29], sort_of('answer p99')], ['1,703', 'none', 'ascending']);
  press('answer p99');
  check('sorted downwards', [shown('answer p99')[0], shown('answer p99')[29], sort_of('answer p99')], ['1,003,000', 'none', 'descending']);
  press('seed');
  check('sorted by one column', [sort_of('answer p99'), sort_of('seed')], ['none', 'ascending']);
  $('search').value = 'failed';
  $('search').dispatchEvent(new Event('input'));
  setTimeout(async () => {
    check('found', [shown('point'), $('found').textContent], [['29'], '1 of 30 points']);
    $('point_table').tBodies[0].rows[0].cells[0].firstChild.click();
    check('why it failed', $('point_about').textContent.includes('it <b>could</b> not be <\/script> run'), true);
    check('command of a point', $('command').textContent,
          "hcasim run 'my scenarios/small.toml' --set timers.shift=6 --set cm.rtu_loss=1 --set gate.policy=software --seed 3");
    // Both themes.
    await choose('series', 'design');
    $('theme').click();
    const before = document.documentElement.dataset.theme;
    $('theme').click();
    check('the theme changes', before !== document.documentElement.dataset.theme, true);
    // Paper: light, as wide as it is, without what only a screen can use.
    if (document.documentElement.dataset.theme !== 'dark') $('theme').click();
    if (document.documentElement.dataset.theme !== 'dark') $('theme').click();
    const line_colours = () => [...$('cost_charts').querySelectorAll('.mark-line path')].map((path) => path.getAttribute('stroke'));
    await moment();
    const on_dark = line_colours();
    dispatchEvent(new Event('beforeprint'));
    await moment();
    check('paper is light', document.documentElement.dataset.theme, 'light');
    check('its charts too', line_colours().every((stroke) => !on_dark.includes(stroke)), true);
    check('and no wider than it', [...document.querySelectorAll('.charts svg')].every((svg) => svg.getAttribute('width') <= 704), true);
    check('what is chosen stands there', $('cost_caption').textContent.startsWith('answer: command in to answer out; p50 and p99 along cm.rtu_loss, one line per design'), true);
    // The rules for print on the screen, in a page as wide as A4 between its margins.
    for (const rule of [...document.styleSheets[0].cssRules].filter((r) => r instanceof CSSMediaRule)) {
      rule.media.mediaText = rule.media.mediaText === 'print' ? 'all' : 'not all';
    }
    document.body.style.width = '718px';
    $('search').value = 'hardware,';
    $('search').dispatchEvent(new Event('input'));
    await new Promise((resolve) => setTimeout(resolve, 300));
    const is_seen = (node) => node.checkVisibility();
    check('no controls', [...document.querySelectorAll('select, input, nav, details, #theme, #copy')].filter(is_seen).map((node) => node.id || node.tagName), []);
    check('no column without figures', [...$('point_table').tHead.rows[0].cells].filter((cell) => !is_seen(cell)).map((cell) => cell.textContent), ['wait p50', 'wait p99']);
    check('nothing over the edge', [...document.querySelectorAll('table, svg, pre')].filter((node) => is_seen(node) && node.getBoundingClientRect().right > document.body.getBoundingClientRect().right + 1)
      .map((node) => node.id || node.tagName), []);
    check('no buttons in a head: it would not be printed on the next page', getComputedStyle($('point_table').tHead.querySelector('button')).display, 'contents');
    dispatchEvent(new Event('afterprint'));
    check('the screen is dark again', document.documentElement.dataset.theme, 'dark');
    document.body.append(Object.assign(document.createElement('pre'), { id: 'checks',
      textContent: failures.length ? failures.join('\n') : 'all ' + number + ' good' }));
  }, 400);
})();
