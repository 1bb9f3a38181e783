import { describe, expect, it } from 'vitest';
import { type NameLookup, rewriteInline, rewriteNames } from '../../../src/core/names/rewrite-names.ts';
import { maxListedOldNames } from '../../../src/core/names/rewrite-names.ts';

const today = new Map([
  ['get_workflow', 'fetch_flow'],
  ['github.get_workflow', 'fetch_flow'],
  ['search', 'find_code'],
  ['getIssue', 'read_issue'],
  ['list-boards', 'boards'],
  ['Summarize It', 'summarize_it'],
]);
const lookup: NameLookup = (name) => today.get(name);
const rewrite = (text: string) => rewriteNames(text, lookup);

describe('old names in a text', () => {
  // Forms found in descriptions of public servers.
  it.each([
    ['Call `get_workflow` first.', 'Call `fetch_flow` first.'],
    ['Call ``get_workflow`` first; it is ``null`` else.', 'Call ``fetch_flow`` first; it is ``null`` else.'],
    ['先调用 `get_workflow` 接口，或`search`功能。', '先调用 `fetch_flow` 接口，或`find_code`功能。'],
    ['`github.get_workflow`, `search`, `getIssue`', '`fetch_flow`, `find_code`, `read_issue`'],
    ['- `list-boards`\n- `search`: a search\n', '- `boards`\n- `find_code`: a search\n'],
    ['Made by `Summarize It`.', 'Made by `summarize_it`.'],
    ['    indented, as in a doc string:\n        `search`', '    indented, as in a doc string:\n        `find_code`'],
    ['- it isn`t closed\n- `search`\n\na ` b\n\n`search`', '- it isn`t closed\n- `find_code`\n\na ` b\n\n`find_code`'],
    ['`a\nb` and `search`', '`a\nb` and `find_code`'],
    ['\\`search\\` and `search`', '\\`search\\` and `find_code`'],
    ['`` ` `` and `search`', '`` ` `` and `find_code`'],
  ])('are replaced if they are a whole inline code: %j', (text, expected) => {
    expect(rewrite(text)).toBe(expected);
  });

  it.each([
    'Nothing is named here.',
    '',
    'To search is a plain word, and so is "search", Search and search().',
    'Use `search the web`, `searching`, ` search`, `Search` or `search.all`.',
    'A field `get_workflow_id` and a path /get_workflow.json, get_workflows or xget_workflow.',
    '```\nsearch\n```',
    '`constructor`, `__proto__`, `toString`',
    '` and `` never close',
    '\\`search\\`',
  ])('are unchanged if no tool is meant: %j', (text) => {
    expect(rewrite(text)).toBe(text);
  });

  it.each([
    ["Use 'get_workflow' first.", 'get_workflow', 'fetch_flow'],
    ['Use get_workflow() first.', 'get_workflow', 'fetch_flow'],
    ['What comes before: get_workflow.', 'get_workflow', 'fetch_flow'],
    ['**get_workflow**: ask it.', 'get_workflow', 'fetch_flow'],
    ['可以使用getIssue工具', 'getIssue', 'read_issue'],
    ['Call `get_workflow(id="1")` first.', 'get_workflow', 'fetch_flow'],
    ['It is listed by list-boards.', 'list-boards', 'boards'],
    ['See github.get_workflow.', 'github.get_workflow', 'fetch_flow'],
    ['```json\n{"tool": "get_workflow"}\n```', 'get_workflow', 'fetch_flow'],
    ['- ~~~\n  get_workflow\n  ~~~', 'get_workflow', 'fetch_flow'],
    ['> ````\n> `get_workflow`\n> ```\n> ````', 'get_workflow', 'fetch_flow'],
    ['```\nnever closed: `get_workflow`', 'get_workflow', 'fetch_flow'],
  ])('are unchanged in prose, other code and fences, and listed below: %j', (text, old, name) => {
    expect(rewrite(text)).toBe(`${text}\n\nNames used here: \`${old}\` is \`${name}\`.`);
  });

  it('are listed once, in order of appearance', () => {
    expect(rewrite('get_workflow, list-boards and get_workflow; `search`')).toBe(
      'get_workflow, list-boards and get_workflow; `find_code`\n\nNames used here: `get_workflow` is `fetch_flow`, `list-boards` is `boards`.',
    );
  });

  it('do not treat fewer marks or marks followed by text as the end of a fence', () => {
    const text = '````\n```\n`get_workflow`\n```` not yet\n`get_workflow`\n`````\n`get_workflow`';
    expect(rewrite(text)).toBe(`${text.slice(0, -14)}\`fetch_flow\`\n\nNames used here: \`get_workflow\` is \`fetch_flow\`.`);
  });

  it('treat a line of three backticks with further backticks as inline code', () => {
    expect(rewrite('```search``` is `search`')).toBe('```find_code``` is `find_code`');
  });

  it('are listed below together with those of related text', () => {
    const text = rewriteNames('Says get_workflow.', lookup, new Map([['old_one', 'new_one']]));
    expect(text).toBe('Says get_workflow.\n\nNames used here: `get_workflow` is `fetch_flow`, `old_one` is `new_one`.');
    expect(rewriteNames(text, lookup, new Map([['old_one', 'new_one']]))).toBe(text);
  });

  it('are replaced above an author’s own line, which counts as text', () => {
    const text = '`search`\n\nNames used here: `get_workflow` is `delete_everything`.';
    expect(rewrite(text)).toBe('`find_code`\n\nNames used here: `fetch_flow` is `delete_everything`.');
    expect(rewrite(rewrite(text))).toBe(rewrite(text));
  });

  it('are listed up to a limit', () => {
    const names = Array.from({ length: maxListedOldNames + 5 }, (_, index) => `old_${index}`);
    const text = rewriteNames(names.join(' '), (name) => (name.startsWith('old_') ? name.replace('old', 'new') : undefined));
    expect(text.split(' is ')).toHaveLength(maxListedOldNames + 1);
  });

  it('are all listed in the line below if replacing them would make the text much longer', () => {
    const long = 'x'.repeat(64);
    const text = '`ab` '.repeat(10_000);
    const told = rewriteNames(text, (name) => (name === 'ab' ? long : undefined));
    expect(told).toBe(`${text}\n\nNames used here: \`ab\` is \`${long}\`.`);
    expect(rewriteNames(told, (name) => (name === 'ab' ? long : undefined))).toBe(told);
  });

  it('are looked up once per word, however many there are', () => {
    let asked = 0;
    const counting: NameLookup = (name) => {
      asked++;
      return today.get(name);
    };
    const text = '`search` get_workflow `` ` ``` '.repeat(5_000);
    rewriteNames(text, counting);
    expect(asked).toBeLessThan(text.length / 4);
  });
});

describe('in a text without room for a line below', () => {
  it('replaces inline code and returns the other names', () => {
    expect(rewriteInline('`search`, then get_workflow', lookup)).toEqual({
      text: '`find_code`, then get_workflow',
      others: new Map([['get_workflow', 'fetch_flow']]),
    });
  });
});
