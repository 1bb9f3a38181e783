/**
 * Which tools of a server a file offers, and how: the entries of a toolset. A restriction of the file is never lost: a filter that has no
 * counterpart leaves tools out.
 */
import { isRecord, type Json } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { ServerRefusal } from './mcp-values.ts';
import type { Members } from './members.ts';

/** Names may be patterns with one `*` at their end. */
export type OfferedTools = {
  /** Null: all. */
  include: string[] | null;
  exclude: string[];
  /** Run without approval; `*`: all. */
  unasked: string[];
  /** Need approval for each call. */
  asked: string[];
  /** Of single tools. */
  descriptions: ReadonlyMap<string, string>;
  aliases: ReadonlyMap<string, string[]>;
  isAlwaysOffered: boolean;
};

/** All tools, as they are. */
export const wholeFilter: OfferedTools = {
  include: null,
  exclude: [],
  unasked: [],
  asked: [],
  descriptions: new Map(),
  aliases: new Map(),
  isAlwaysOffered: false,
};

// As clients write them, without `_` and `-` and in lower case.
const includeMembers = /^(tools|(include|included|enabled|allow|allowed|available)tools|toolstoinclude|tool(allow|white)list)$/;
const excludeMembers =
  /^((exclude|excluded|disable|disabled|disallowed|deny|denied|block|blocked|hidden)tools|toolsto(skip|exclude)|tool(deny|black|block)list)$/;
const unaskedMembers = /^(autoapprove|alwaysallow)$/;
/** Members that no reader knows and that seem to leave tools out. */
const otherFilters =
  /^(tools?(filters?|allow|deny|block|include|exclude)\w*|(allow|deny|block|include|exclude|disallow|hide)(d|ed)?(tool\w*|list)?|filters?|(white|black)list)$/;

function plainName(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

export type OfferedToolsOptions = {
  /** An empty list of tools means all, not none. */
  isEmptyListAll?: boolean;
  /** What the names of tools may begin with, and the server does not call them. */
  toolPrefix?: string;
};

/** Reads the filters of a server's entry, as the clients call them. */
export function readOfferedTools(members: Members, { isEmptyListAll = false, toolPrefix = '' }: OfferedToolsOptions = {}): OfferedTools {
  const named = isRecord(members.peek('tools')) ? readNamedTools(members, toolPrefix) : null;
  const [included, excluded, unasked]: [string[][], string[], string[]] = [[], [], []];
  for (const name of members.names()) {
    const plain = plainName(name);
    if (includeMembers.test(plain) && !(name === 'tools' && named !== null)) {
      const list = patterns(members, name, toolPrefix) ?? [];
      excluded.push(...list.filter((one) => one.startsWith('!')).map((one) => one.slice(1)));
      if (list.length > 0 || !isEmptyListAll || !Array.isArray(members.peek(name)))
        included.push(list.filter((one) => !one.startsWith('!')));
    } else if (excludeMembers.test(plain)) {
      const list = patterns(members, name, toolPrefix);
      excluded.push(...(list ?? []));
      // A filter that cannot be read may leave out any tool.
      if (list === null) included.push([]);
    } else if (unaskedMembers.test(plain)) unasked.push(...(patterns(members, name, toolPrefix) ?? []));
    else if (otherFilters.test(plain)) {
      members.skip([name], 'is not known to this import, and may leave tools out: none is in the toolset');
      included.push([]);
    }
  }
  const mode = approvalMode(members, 'default_tools_approval_mode');
  const isTrusted = members.flag('trust') === true || mode === 'approve';
  const listed = {
    ...wholeFilter,
    include: included.length === 0 ? null : included.reduce((some, others) => common(some, others)),
    exclude: excluded,
    unasked: [...(isTrusted ? ['*'] : []), ...unasked],
    asked: mode === 'prompt' ? ['*'] : [],
    isAlwaysOffered: members.flag('alwaysLoad') === true,
  };
  return withFilter(listed, named ?? {});
}

/** Returns a filter that also has the rules of another. */
export function withFilter(filter: OfferedTools, more: Partial<OfferedTools> = {}): OfferedTools {
  const include = more.include ?? null;
  return {
    include: filter.include === null ? include : include === null ? filter.include : common(filter.include, include),
    exclude: [...filter.exclude, ...(more.exclude ?? [])],
    unasked: [...filter.unasked, ...(more.unasked ?? [])],
    asked: [...filter.asked, ...(more.asked ?? [])],
    descriptions: new Map([...filter.descriptions, ...(more.descriptions ?? [])]),
    aliases: new Map([...filter.aliases, ...(more.aliases ?? [])]),
    isAlwaysOffered: filter.isAlwaysOffered || more.isAlwaysOffered === true,
  };
}

/** Returns the entries for the tools of a server; none if the file offers none. `members`: of the server, where faults are reported. */
export function toolEntries(server: string, filter: OfferedTools, members: Members): Json[] {
  const exclude = [...new Set(filter.exclude)];
  if (exclude.length > limits.maxToolsetEntries) {
    members.fault('', `none of its tools is in the toolset: at most ${limits.maxToolsetEntries} tools can be left out`);
    return [];
  }
  const odd = exclude.filter(isOdd);
  if (odd.length > 0) {
    members.fault('', `none of its tools is in the toolset: tools can be left out by name or beginning, not by ${odd.join(', ')}`);
    return [];
  }
  const included = filter.include ?? ['*'];
  for (const pattern of included.filter(isOdd))
    members.fault('', `the tools ${pattern} are not in the toolset: only the beginning of a name can stand for several`);
  if (filter.asked.some(isOdd))
    members.change('', `each call of its tools needs approval: those of ${filter.asked.filter(isOdd).join(', ')} are not told apart`);
  const asked = filter.asked.some(isOdd) ? ['*'] : filter.asked;
  const unasked = filter.unasked.filter((pattern) => !isOdd(pattern));
  for (const pattern of filter.unasked.filter(isOdd))
    members.fault('', `the tools ${pattern} still need approval: a pattern ends with "*"`);
  const offered = (name: string): boolean => covers(included, name) && !covers(exclude, name);
  // Patterns of tools that need no approval come first, since a tool is in the first entry that has it.
  const special = [...unasked, ...asked, ...filter.descriptions.keys(), ...filter.aliases.keys()];
  for (const name of filter.aliases.keys())
    if (!offered(name)) members.fault('', `the alias of ${name} is not used, since the file does not offer the tool`);
  const singles = [...new Set(special)].filter((name) => name !== '*' && offered(name));
  const wanted = included.filter((pattern) => !isOdd(pattern) && !covers(exclude, pattern));
  const narrow = singles.filter((name) => name.endsWith('*'));
  const names = [...narrow, ...wanted, ...singles.filter((name) => !name.endsWith('*'))];
  const entries = [...new Set(names)].map((name) => entryOf(server, name, { ...filter, asked }, exclude));
  if (entries.length === 0) members.change('', 'the file offers none of its tools, so that it is in no toolset');
  return entries;
}

function entryOf(server: string, name: string, filter: OfferedTools, exclude: readonly string[]): Json {
  const without = name.endsWith('*') ? exclude.filter((one) => one.startsWith(name.slice(0, -1))) : [];
  const description = filter.descriptions.get(name);
  const aliases = filter.aliases.get(name);
  const approval = covers(filter.asked, name) ? 'always' : covers(filter.unasked, name) ? 'never' : null;
  return {
    tool: `${server}.${name}`,
    ...(without.length > 0 && { except: without }),
    ...(description !== undefined && !name.endsWith('*') && { description }),
    ...(aliases !== undefined && { aliases }),
    ...(approval !== null && { approval }),
    ...(filter.isAlwaysOffered && { alwaysOffered: true }),
  };
}

/** mcphub: `{name: {enabled, description}}`; Codex: `{name: {enabled, approval_mode}}`. */
function readNamedTools(members: Members, prefix: string): Partial<OfferedTools> {
  const exclude: string[] = [];
  const unasked: string[] = [];
  const asked: string[] = [];
  const descriptions = new Map<string, string>();
  const switches = members.record('tools');
  const names = switches?.names() ?? [];
  if (names.length > maxPatterns) throw new ServerRefusal(`has more than ${maxPatterns} names in \`tools\``);
  for (const written of names) {
    const name = withoutPrefix(written, prefix);
    const value = switches?.peek(written);
    if (typeof value === 'boolean') {
      switches?.ignore(written);
      if (!value) exclude.push(name);
      continue;
    }
    const tool = switches?.record(written) ?? null;
    // What cannot be read may switch the tool off.
    if (tool === null) exclude.push(name);
    if (tool === null) continue;
    if (tool.flag('enabled') === false || tool.flag('disabled') === true) exclude.push(name);
    const description = tool.text('description');
    if (description !== null && description !== '') descriptions.set(name, description);
    const mode = approvalMode(tool, 'approval_mode');
    if (mode === 'approve') unasked.push(name);
    else if (mode === 'prompt') asked.push(name);
  }
  return { exclude, unasked, asked, descriptions };
}

export function withoutPrefix(name: string, prefix: string): string {
  return prefix !== '' && name.length > prefix.length && name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

/** What is not known may be a restriction. */
function approvalMode(members: Members, name: string): string | null {
  const mode = members.text(name)?.toLowerCase() ?? null;
  if (mode === null || /^(auto|approve|prompt)$/.test(mode)) return mode;
  members.change(name, 'is not known to this import, so that each call needs approval');
  return 'prompt';
}

/** More than a toolset may have entries. */
const maxPatterns = 2_000;

/** Returns null for what is set and is no list of names. One text may have several, with commas. A name with the prefix counts also without. */
function patterns(members: Members, name: string, prefix: string): string[] | null {
  const texts = members.allTexts(name);
  if (texts === null) return null;
  if (texts.length > maxPatterns) throw new ServerRefusal(`has more than ${maxPatterns} names in \`${name}\``);
  const names = (typeof members.peek(name) === 'string' ? (texts[0] ?? '').split(',') : texts).map((one) => one.trim());
  return [...new Set(names.flatMap((one) => [withoutPrefix(one, prefix), one]))].filter((pattern) => pattern !== '');
}

function common(some: readonly string[], others: readonly string[]): string[] {
  return [...new Set([...some.filter((name) => covers(others, name)), ...others.filter((name) => covers(some, name))])];
}

function covers(list: readonly string[], name: string): boolean {
  return list.some((pattern) => pattern === name || (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1))));
}

function isOdd(pattern: string): boolean {
  return /\*.|[?[\]{}()|^$,\\]|^!|^$/.test(pattern);
}
