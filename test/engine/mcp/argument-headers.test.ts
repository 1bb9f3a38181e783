import { describe, expect, it } from 'vitest';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import { argumentHeaderFault } from '../../../src/engine/mcp/argument-headers.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';

const inputSchema = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    level: { type: 'integer', 'x-mcp-header': 'Level' },
    dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
    place: { type: 'object', properties: { zone: { type: 'string', 'x-mcp-header': 'Zone' } } },
    note: { type: 'string' },
    // A parameter may have the name of the keyword.
    'x-mcp-header': { type: 'string' },
  },
};
const { edition } = await compile(
  { tools: [{ tool: 'web.search', aliases: ['find'] }] },
  knownTools([toolOf('web', 'search', { inputSchema })]),
);
const names = buildAliasMap(edition, { aliases: true });
const faultOf = (args: unknown, headers: Record<string, string>, name = 'find'): string | null =>
  argumentHeaderFault(names, { name, arguments: args }, (header) => new Headers(headers).get(header));
const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;

describe('the headers of a call', () => {
  it.each<[unknown, Record<string, string>]>([
    [{}, {}],
    [{ note: 'x' }, {}],
    [{ region: 'eu' }, { 'mcp-param-region': 'eu' }],
    [{ region: ' eu é\r\n' }, { 'Mcp-Param-Region': base64(' eu é\r\n') }],
    [{ region: '\uFEFFeu' }, { 'Mcp-Param-Region': base64('\uFEFFeu') }],
    [{ region: '' }, { 'Mcp-Param-Region': '' }],
    [{ level: 42 }, { 'Mcp-Param-Level': '42' }],
    [{ level: 42 }, { 'Mcp-Param-Level': '42.0' }],
    [{ dry: false }, { 'Mcp-Param-Dry': 'false' }],
    [{ place: { zone: 'b' } }, { 'Mcp-Param-Zone': 'b' }],
    // Without a value no header is expected, and one is ignored.
    [{ region: null }, { 'Mcp-Param-Region': 'eu' }],
    [{ 'x-mcp-header': 'x' }, {}],
    [undefined, {}],
  ])('may be those of the arguments %j: %j', (args, headers) => {
    expect(faultOf(args, headers)).toBe(null);
  });

  it.each<[unknown, Record<string, string>, string]>([
    [{ region: 'eu' }, {}, 'Mcp-Param-Region is missing, which must repeat the argument region'],
    [{ region: 'eu' }, { 'Mcp-Param-Region': 'us' }, 'Mcp-Param-Region differs from the argument region'],
    [{ region: 'eu' }, { 'Mcp-Param-Region': base64('us') }, 'Mcp-Param-Region differs from the argument region'],
    [{ region: '42' }, { 'Mcp-Param-Region': '42.0' }, 'Mcp-Param-Region differs from the argument region'],
    [{ region: 'eu' }, { 'Mcp-Param-Region': '=?base64?ZX?=' }, 'Mcp-Param-Region is not valid Base64 of UTF-8'],
    [{ region: 'eu' }, { 'Mcp-Param-Region': '=?base64?/w==?=' }, 'Mcp-Param-Region is not valid Base64 of UTF-8'],
    [{ level: 1 }, { 'Mcp-Param-Level': '2' }, 'Mcp-Param-Level differs from the argument level'],
    [{ dry: true }, { 'Mcp-Param-Dry': 'True' }, 'Mcp-Param-Dry differs from the argument dry'],
    [{ place: { zone: 'b' } }, { 'Mcp-Param-Zone': 'c' }, 'Mcp-Param-Zone differs from the argument place.zone'],
  ])('may not differ from the arguments %j: %j', (args, headers, fault) => {
    expect(faultOf(args, headers)).toBe(`the header ${fault}`);
  });

  it('are not checked for a tool that does not exist', () => {
    expect(faultOf({ region: 'eu' }, {}, 'nothing')).toBe(null);
  });
});
