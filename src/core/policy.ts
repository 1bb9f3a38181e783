/**
 * What needs a person's word before it happens (DESIGN §7). Judged where it can be: calls from their entry and arguments,
 * and again at the capability, beneath every tool (`engine/ask-first.ts`), so that no spelling gets round it. What the
 * workspace has allowed once and for all are its rules.
 */
import { z } from 'zod';
import { AskKind, type Ask } from './approval.ts';
import type { EditionTool } from './edition.ts';
import { limits } from './limits.ts';
import { isInside, resolvePath, workspace } from './path.ts';
import { contradictsReadOnly } from './tool-effects.ts';

/** A host as rules and questions have it: lower case, punycode, no dot at the end, the port only where it is not the usual one. */
const RuleHost = z
  .string()
  .min(1)
  .max(limits.maxUrlLength)
  .transform((text, context) => {
    const host = /[/?#@\\\s]/.test(text) ? null : requestHost(`https://${text}/`);
    if (host !== null) return host;
    context.addIssue({ code: 'custom', message: 'must be a host, with :port where it is not the usual one' });
    return z.NEVER;
  })
  .meta({ description: 'Host of a request, with `:port` where it is not the usual one.', example: 'api.example.com' });

const RulePath = z
  .string()
  .refine((path) => path.startsWith('/') && sameResolved(path), {
    message: 'must be an absolute path without . and .. and no / at its end',
  })
  .meta({ description: 'The path and all beneath it.', example: '/tmp' });

/** The kinds of question that are about a path. */
const pathKinds: ReadonlySet<AskKind> = new Set(['delete-file', 'write-outside']);

/**
 * A remembered or written rule: what it allows needs no approval. All members that are given must fit. An entry that asks
 * always is not about anything that could be allowed once and for all, so no rule reaches it.
 */
export const PolicyRule = z
  .strictObject({
    decision: z.literal('allow'),
    kind: AskKind.exclude(['always']).optional(),
    tool: z.string().min(1).max(192).optional().meta({ description: 'Canonical name.', example: 'builtin.http_request' }),
    host: RuleHost.optional(),
    path: RulePath.optional(),
  })
  .refine((rule) => rule.kind !== undefined || rule.tool !== undefined || rule.host !== undefined || rule.path !== undefined, {
    message: 'must say what it allows: kind, tool, host or path',
  })
  .refine((rule) => rule.host === undefined || (rule.path === undefined && (rule.kind ?? 'network') === 'network'), {
    path: ['host'],
    message: 'belongs to the kind network, and not beside a path: such a rule would never fit',
  })
  .refine((rule) => rule.path === undefined || rule.kind === undefined || pathKinds.has(rule.kind), {
    path: ['path'],
    message: 'belongs to the kinds delete-file and write-outside: such a rule would never fit',
  })
  .meta({ id: 'PolicyRule' });
export type PolicyRule = z.infer<typeof PolicyRule>;

/** The workspace's one policy document. */
export const Policy = z
  .strictObject({ rules: z.array(PolicyRule).max(limits.maxPolicyRules) })
  .meta({ id: 'Policy', example: { rules: [{ decision: 'allow', kind: 'network', host: 'api.example.com' }] } });
export type Policy = z.infer<typeof Policy>;

/** Before it runs, as far as entry and arguments tell. null: it may run. */
export function judgeCall(tool: EditionTool, args: Record<string, unknown>, rules: readonly PolicyRule[]): Ask | null {
  if (tool.approval === 'always') return { kind: 'always', reason: 'Its toolset asks for an approval of every call', target: null };
  switch (tool.canonical) {
    case 'builtin.delete_file':
      return judgeDeletion(tool.canonical, pathOf(args), rules);
    case 'builtin.write_file':
    case 'builtin.edit_file': {
      const path = pathOf(args);
      return path === null ? null : judgeWrite(tool.canonical, path, rules);
    }
    case 'builtin.http_request': {
      const host = typeof args.url === 'string' ? requestHost(args.url) : null;
      return host === null ? null : judgeHost(tool.canonical, host, rules);
    }
    default:
      return judgeEffect(tool, rules);
  }
}

/**
 * What its server says of a tool. Who is not trusted is believed only that a tool reads, and not even that where its name says
 * otherwise. One question a tool, so that one rule answers it.
 */
function judgeEffect(tool: EditionTool, rules: readonly PolicyRule[]): Ask | null {
  const { canonical, kind, ownName, annotations = {} } = tool;
  if (guardedKinds.has(kind)) return null;
  const destructive = annotations.destructiveHint === true;
  const trusted = tool.trusted === true || kind === 'local';
  if (!destructive && (trusted || (annotations.readOnlyHint === true && !contradictsReadOnly(ownName)))) return null;
  const may = destructive ? 'may destroy what it works on' : 'may change what it works on';
  const ask: Ask = trusted
    ? { kind: 'destructive', reason: `${canonical} ${may}`, target: canonical }
    : { kind: 'untrusted', reason: `${canonical} ${may}, and its server is not trusted`, target: canonical };
  return isAllowed(canonical, ask, rules) ? null : ask;
}

/** What of these needs leave is judged at their capabilities; a caller's own tool is run by the caller, who may refuse. */
const guardedKinds: ReadonlySet<EditionTool['kind']> = new Set(['builtin', 'client', 'ui']);

/** A write or a deletion at `path`, absolute and resolved, whoever does it. */
export function judgeWrite(canonical: string, path: string, rules: readonly PolicyRule[]): Ask | null {
  if (isInside(path, workspace)) return null;
  const ask: Ask = { kind: 'write-outside', reason: `It writes outside ${workspace}: ${path}`, target: path };
  return isAllowed(canonical, ask, rules) ? null : ask;
}

/** A request to `host`, in the form of `requestHost`. */
export function judgeHost(canonical: string, host: string, rules: readonly PolicyRule[]): Ask | null {
  const ask: Ask = { kind: 'network', reason: `It sends a request to ${host}, which is new to this workspace`, target: host };
  return isAllowed(canonical, ask, rules) ? null : ask;
}

/**
 * What `remember` stores for an ask that was approved. A host is known to the whole workspace from then on; a path only to
 * the tool that was asked for. null: there is nothing to remember, it asks every time.
 */
export function ruleOf(canonical: string, ask: Pick<Ask, 'kind' | 'target'>): PolicyRule | null {
  if (ask.target === null) return null;
  switch (ask.kind) {
    case 'always':
      return null;
    case 'network':
      return { decision: 'allow', kind: 'network', host: ask.target };
    case 'delete-file':
    case 'write-outside':
      return { decision: 'allow', kind: ask.kind, tool: canonical, path: ask.target };
    case 'destructive':
    case 'untrusted':
      return { decision: 'allow', kind: ask.kind, tool: canonical };
    default:
      return ask.kind satisfies never;
  }
}

/** The host that a URL reaches, as the WHATWG parser has it; null for what is no URL of a host. */
export function requestHost(url: string): string | null {
  const parsed = URL.parse(url);
  if (parsed === null || parsed.hostname === '') return null;
  const name = parsed.hostname.replace(/\.$/, '');
  return parsed.port === '' ? name : `${name}:${parsed.port}`;
}

/** A deletion outside needs leave for both. `path` is null where the tool will refuse it anyway. */
function judgeDeletion(canonical: string, path: string | null, rules: readonly PolicyRule[]): Ask | null {
  const ask: Ask = { kind: 'delete-file', reason: `It deletes ${path ?? 'a file'}, which cannot be undone`, target: path };
  if (!isAllowed(canonical, ask, rules)) return ask;
  return path === null ? null : judgeWrite(canonical, path, rules);
}

function isAllowed(canonical: string, ask: Ask, rules: readonly PolicyRule[]): boolean {
  return rules.some(
    (rule) =>
      (rule.kind === undefined || rule.kind === ask.kind) &&
      (rule.tool === undefined || rule.tool === canonical) &&
      (rule.host === undefined || (ask.kind === 'network' && rule.host === ask.target)) &&
      (rule.path === undefined || (pathKinds.has(ask.kind) && ask.target !== null && isInside(ask.target, rule.path))),
  );
}

function pathOf(args: Record<string, unknown>): string | null {
  if (typeof args.path !== 'string') return null;
  const resolved = resolvePath(args.path, workspace);
  return resolved.ok ? resolved.path : null;
}

function sameResolved(path: string): boolean {
  const resolved = resolvePath(path, '/');
  return resolved.ok && resolved.path === path;
}
