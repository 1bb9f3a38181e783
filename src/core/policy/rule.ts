/**
 * One rule of a workspace's policy: it allows, denies, or requires approval (contract §7). `document.ts` contains the rules, `evaluate-policy.ts`
 * evaluates them, `effects/` defines the defaults, and `remembered-rule.ts` adds rules for remembered approvals.
 */
import * as z from 'zod';
import { AskKind } from './approval.ts';
import { limits } from '../limits/limits.ts';
import { resolvePath } from '../text/path.ts';
import { requestHost } from './host.ts';
import { OfferPattern } from '../names/offer-pattern.ts';

/** Lower case, punycode, no trailing dot, a port only if it is not the default; or `*.` for all subdomains of a host. */
const RuleHost = z
  .string()
  .min(1)
  .max(limits.maxUrlLength)
  .transform((text, context) => {
    const beneath = text.startsWith('*.');
    const name = beneath ? text.slice(2) : text;
    const host = /[/?#@\\\s*]/.test(name) ? null : requestHost(`https://${name}/`);
    if (host !== null) return beneath ? `*.${host}` : host;
    context.addIssue({ code: 'custom', message: 'must be a host, with :port if it is not the default port, or *.host for all subdomains' });
    return z.NEVER;
  })
  .meta({
    description:
      'Host of a request, with `:port` if it is not the default port. `*.example.com` matches all subdomains but not `example.com`. Without a port, a rule that denies or asks applies to every port.',
    example: 'api.example.com',
  });

const RulePath = z
  .string()
  .refine((path) => path.startsWith('/') && sameResolved(path), {
    message: 'must be an absolute path without . and .. segments and without a trailing /',
  })
  .refine((path) => !/\/\*+$/.test(path), { message: 'already includes everything below it. Leave out the trailing *' })
  .meta({ description: 'The path and everything below it.', example: '/tmp' });

const RuleTool = z
  .string()
  .min(1)
  .max(limits.maxCanonicalNameLength)
  // A rule with an invalid tool name would never match, and its author would not notice.
  .refine((name) => /^[a-z][a-z0-9-]{0,31}\.(?:\*|[^*]+)$/.test(name), {
    message: 'must be a canonical name such as builtin.bash, or server.* for all tools of a server',
  })
  .meta({
    description:
      'Canonical name, or `server.*` for all tools, resources and prompts of a server. Requests for resources and prompts are calls of `<server>.<method of MCP>`, such as `docs.resources/read`.',
    example: 'builtin.http_request',
  });

const DoneEffect = z.enum(['read', 'write', 'destroy', 'send']).meta({
  description:
    'The effect. `write`: anything is changed; in rules that deny or ask it includes `destroy`, in rules that allow it does not. ' +
    '`send`: data leaves the service.',
  example: 'send',
});

/** The kinds of question about a path, about a host, and about the resources of a workspace. */
const pathKinds: ReadonlySet<AskKind> = new Set(['delete-file', 'overwrite-file', 'write-outside']);
const hostKinds: ReadonlySet<AskKind> = new Set(['network', 'taint']);
const registryKinds: ReadonlySet<AskKind> = new Set(['registry']);
const offerKinds: ReadonlySet<AskKind> = new Set(['untrusted', 'taint']);

/**
 * All fields of the rule must match. `deny` takes precedence over `ask`, `ask` over `allow`, `allow` over the default questions,
 * whatever their order. An entry with `approval: "always"` cannot be allowed permanently, so no rule applies to it.
 */
export const PolicyRule = z
  .strictObject({
    decision: z.enum(['allow', 'ask', 'deny']).meta({ description: 'The decision for matching effects.', example: 'deny' }),
    kind: AskKind.exclude(['always', 'rule', 'budget']).optional().meta({
      description: 'The kind of question. Only rules with the kind `taint` allow effects that the taint rule covers.',
      example: 'delete-file',
    }),
    tool: RuleTool.optional(),
    host: RuleHost.optional(),
    method: z
      .string()
      .regex(/^[A-Z]{1,16}$/, { message: 'must be an HTTP method in capitals' })
      .optional()
      .meta({ description: 'HTTP method of a request.', example: 'POST' }),
    path: RulePath.optional(),
    effect: DoneEffect.optional(),
    agent: z.string().min(1).max(64).optional().meta({ description: 'Name of the agent of the turn.', example: 'support' }),
    key: z.string().min(1).max(64).optional().meta({ description: 'Id of the calling key.', example: 'key_4fmr…' }),
    secret: z.string().min(1).max(128).optional().meta({ description: 'Name of the secret to be read.', example: 'GITHUB' }),
    name: z.string().min(1).max(limits.maxCanonicalNameLength).optional().meta({
      description: 'Name of the toolset, or canonical name of the made tool, to be changed.',
      example: 'made.find_and_replace',
    }),
    resource: OfferPattern.optional().meta({
      description: 'The resource that is read or subscribed to: `<server>.<URI>`, with a `*` at the end for any text.',
      example: 'docs.file:///public/*',
    }),
    prompt: OfferPattern.optional().meta({
      description: 'The prompt that is requested: `<server>.<name>`, with a `*` at the end for any text.',
      example: 'docs.review',
    }),
    note: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .meta({ description: 'The reason, shown in messages. The policy does not evaluate it.', example: 'reports go by mail' }),
  })
  .refine(({ decision: _decision, note: _note, ...said }) => Object.values(said).some((member) => member !== undefined), {
    message: 'must have at least one of: kind, tool, host, method, path, effect, agent, key, secret, name, resource or prompt',
  })
  .refine((rule) => rule.host === undefined || (rule.path === undefined && rule.secret === undefined && fits(rule.kind, hostKinds)), {
    path: ['host'],
    message: 'can only be used with the kinds network and taint, and not with a path or secret: the rule would never match',
  })
  .refine((rule) => rule.method === undefined || (rule.path === undefined && rule.secret === undefined && fits(rule.kind, hostKinds)), {
    path: ['method'],
    message: 'can only be used with the kinds network and taint, and not with a path or secret: the rule would never match',
  })
  .refine((rule) => rule.path === undefined || (rule.secret === undefined && fits(rule.kind, pathKinds)), {
    path: ['path'],
    message: 'can only be used with the kinds delete-file, overwrite-file and write-outside: the rule would never match',
  })
  .refine((rule) => rule.secret === undefined || (rule.kind === undefined && rule.decision !== 'allow'), {
    path: ['secret'],
    message: 'can only be used without a kind and in rules that ask or deny, since reading a secret requires no approval by default',
  })
  .refine((rule) => rule.name === undefined || fits(rule.kind, registryKinds), {
    path: ['name'],
    message: 'can only be used with the kind registry: the rule would never match',
  })
  .superRefine((rule, context) => {
    for (const member of ['resource', 'prompt'] as const) {
      if (rule[member] === undefined) continue;
      const other = ownSubjects.find((name) => name !== member && rule[name] !== undefined);
      if (other === undefined && fits(rule.kind, offerKinds)) continue;
      const message = `can only be used with the kinds untrusted and taint, and not with ${other ?? 'another kind'}: the rule would never match`;
      context.addIssue({ code: 'custom', path: [member], message });
    }
  })
  .meta({ id: 'PolicyRule', example: { decision: 'deny', tool: 'github.*', effect: 'destroy', note: 'issues are kept' } });
export type PolicyRule = z.infer<typeof PolicyRule>;

/** Notes of rules that are in no policy document: of known hosts, and of what a session remembers. */
export const derivedNotes = { host: 'it is a known host', session: 'this session remembers an approval' } as const;

/** An effect has one of these. */
const ownSubjects = ['host', 'method', 'path', 'secret', 'name', 'resource', 'prompt'] as const;

function fits(kind: AskKind | undefined, kinds: ReadonlySet<AskKind>): boolean {
  return kind === undefined || kinds.has(kind);
}

function sameResolved(path: string): boolean {
  const resolved = resolvePath(path, '/');
  return resolved.ok && resolved.path === path;
}
