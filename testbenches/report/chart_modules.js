// Plays require() for the modules of Vega, which stand above as functions, and gives what the page uses of it.
const loaded = {};
function require(name) {
  // One module is asked for in the plural that has its file in the singular.
  const file = name === 'vega-selections' ? 'vega-selection' : name;
  if (!loaded[file]) {
    loaded[file] = {};
    if (!modules[file]) throw new Error('chart library: no module ' + file);
    modules[file](loaded[file], { exports: loaded[file] }, require);
  }
  return loaded[file];
}
const dataflow = require('vega-dataflow');
Object.assign(dataflow.transforms, require('vega-transforms'), require('vega-view-transforms'),
              require('vega-encode'));
return {
  View: require('vega-view').View,
  parse: require('vega-parser').parse,
  expressionFunction: require('vega-functions').expressionFunction,
  Warn: require('vega-util').Warn,
};
