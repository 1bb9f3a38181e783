/**
 * Explains to an administrator why a name resolves to its tool (contract §3.5). Computed after the resolution, so that resolving itself
 * stays a table lookup. Used by `GET …/resolve`.
 */
import { configuredEntry, type AliasMap, type Resolution } from './alias-map.ts';
import { calledAlias, deprecationOf, type EditionAlias, type EditionTool, isForAppsOnly, onlyForApps } from './edition-tool.ts';
import { describeHold } from '../tools/hold.ts';
import type { ApprovalRule } from './approval-rule.ts';
import type { AliasMode } from '../names/toolset-alias.ts';
import { fold } from '../names/fold.ts';
import { limits } from '../limits/limits.ts';
import { quote, toWireName } from '../names/names.ts';
import { whyMissing } from './known-tools.ts';
import { joinWords, listFirst } from '../text/paragraphs.ts';

/** What an administrator needs to know about the tool that a name resolved to. Secrets in `arguments` are names, as in the document. */
type Explanation = Pick<EditionTool, 'server' | 'ownName' | 'kind' | 'state' | 'arguments' | 'result' | 'held' | 'renamedTo'> & {
  because: string;
  /** `tools[i]` of the document; null for an injected tool. */
  entry: string | null;
  /** Why it cannot be called, now or ever; absent if it can. */
  blocked?: string;
  /** The deprecation note that a call by this name receives. */
  deprecated?: string;
  approval: ApprovalRule;
  refId?: string;
};

type Hit = Extract<Resolution, { ok: true }>;
type Miss = Exclude<Resolution, { ok: true }>;

/** `names`: the table that resolved the name. The tools of its edition are in the order of the document. */
export function explainHit(names: AliasMap, hit: Hit): Explanation {
  const { tool } = hit;
  const { server, ownName, kind, state, approval = 'policy', arguments: rules, result, pin, held, renamedTo } = tool;
  const deprecated = deprecationOf(hit);
  const blocked = whyBlocked(tool);
  const place = names.edition.tools.indexOf(configuredEntry(tool));
  return {
    because: `${quote(hit.requested)} ${reason(names, hit)}.`,
    entry: place === -1 ? null : `tools[${place}]`,
    server,
    ownName,
    kind,
    state,
    ...(blocked !== null && { blocked }),
    ...(deprecated !== null && { deprecated: deprecated.note }),
    approval,
    ...(rules !== undefined && { arguments: rules }),
    ...(result !== undefined && { result }),
    ...(pin !== '' && { refId: pin }),
    ...(held !== undefined && { held }),
    ...(renamedTo !== undefined && { renamedTo }),
  };
}

/**
 * Explains why a name resolves to no tool, or to several. `elsewhere`: canonical names of similar tools that the workspace has
 * outside this toolset.
 */
export function explainMiss(names: AliasMap, miss: Miss, elsewhere: readonly string[]): string {
  const requested = quote(miss.requested);
  if (miss.code === 'ambiguous_tool')
    return `${requested} ${sharedReason(names, miss)}: use one of the wire names ${listed(miss.candidates)}.`;
  const near = miss.suggestions.length === 0 ? '' : ` Did you mean ${miss.suggestions.join(', ')}?`;
  const beyond =
    elsewhere.length === 0 ? '' : ` The workspace has ${elsewhere.join(', ')} outside this toolset. Add an entry for it to use it.`;
  return `No tool of this toolset is named ${requested}.${near}${beyond}`;
}

function reason(names: AliasMap, hit: Hit): string {
  const { tool, via, canonical, wireName } = hit;
  const shown = `the wire name is ${quote(wireName)}`;
  switch (via) {
    case 'wire':
      return `is the wire name of ${canonical}, ${wireNameOrigin(names, tool)}`;
    case 'canonical': {
      const entries = names.tools.filter((other) => other.canonical === canonical).length;
      const which = entries > 1 ? `, and this is the only one of its ${entries} entries without presets` : '';
      return `is a canonical name${which}; ${shown}`;
    }
    case 'alias':
      return `is ${aliasKind(calledAlias(hit))} of ${canonical}; ${shown}`;
    case 'own':
      return `is the own name of ${canonical}; ${shown}`;
    case 'folded': {
      const { name, what } = foldedFrom(hit);
      return `is ${quote(name)} in another spelling, which is ${what} of ${canonical}${name === wireName ? '' : `; ${shown}`}`;
    }
    default:
      return via satisfies never;
  }
}

function wireNameOrigin(names: AliasMap, { wireName, ownName, server, canonical, aliases }: EditionTool): string {
  if (wireName === ownName) return 'and its own name';
  if (aliases.find(({ mode }) => mode === 'announced')?.name === wireName) return 'because it is its first announced alias';
  if (wireName === toWireName(canonical, ownName)) return `derived from its own name ${quote(ownName)}, which some providers reject`;
  if (wireName === toWireName(canonical, `${server}_${ownName}`))
    return `derived from its server and its own name ${quote(ownName)}, which another tool has too`;
  return names.aliases ? 'because its entry sets it' : `derived from its own name ${quote(ownName)}, which two tools share`;
}

function aliasKind(alias: EditionAlias | undefined): string {
  return aliasKinds[alias?.mode ?? 'announced'];
}

const aliasKinds: Readonly<Record<AliasMode, string>> = {
  function: 'an alias (sent as a separate definition)',
  hidden: 'a hidden alias (callable, never shown)',
  deprecated: 'a deprecated alias (callable, never shown)',
  announced: 'an announced alias',
};

function foldedFrom(hit: Hit): { name: string; what: string } {
  const { requested, tool } = hit;
  const target = fold(requested);
  if (fold(tool.wireName) === target) return { name: tool.wireName, what: 'the wire name' };
  if (fold(tool.ownName) === target) return { name: tool.ownName, what: 'the own name' };
  const alias = calledAlias(hit);
  return alias === undefined ? { name: tool.canonical, what: 'the canonical name' } : { name: alias.name, what: aliasKind(alias) };
}

function whyBlocked(tool: EditionTool): string | null {
  const { kind, state, held, renamedTo, canonical } = tool;
  if (kind === 'ui') return 'it is a UI tool: it is not offered to models and cannot be called';
  if (state === 'held') return describeHold(held);
  if (state === 'ready' && isForAppsOnly(tool)) return onlyForApps;
  if (state === 'missing')
    return renamedTo === undefined
      ? whyMissing(tool)
      : `its server no longer lists it; ${renamedTo} now has the definition of ${canonical}`;
  return null;
}

function sharedReason(names: AliasMap, { requested, candidates }: Extract<Miss, { code: 'ambiguous_tool' }>): string {
  const wireNames = new Set(candidates);
  const tools = names.tools.filter(({ wireName }) => wireNames.has(wireName));
  const canonicals = listed([...new Set(tools.map(({ canonical }) => canonical))]);
  if (tools.every(({ canonical }) => canonical === requested)) return `is the canonical name of ${tools.length} entries`;
  if (tools.every(({ ownName }) => ownName === requested)) return `is the own name of ${canonicals}`;
  return `is a name of ${canonicals} in another spelling`;
}

function listed(names: readonly string[]): string {
  return names.length > limits.maxSuggestions ? listFirst(names, limits.maxSuggestions) : joinWords(names);
}
