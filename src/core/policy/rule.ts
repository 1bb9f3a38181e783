/**
 * The workspace's policy as a document: what is allowed, asked about first, or denied (DESIGN §7). It is judged in `judge.ts`; what holds
 * without any rule is `questions.ts`. Written with PUT /v1/policy, and grown by answers that are remembered (`remember.ts`).
 */
import { z } from 'zod';
import { AskKind } from '../approval.ts';
import { limits } from '../limits.ts';
import { resolvePath } from '../path.ts';
import { requestHost } from './host.ts';

/** Lower case, punycode, no dot at the end, the port only where it is not the usual one; or `*.` and all beneath a host. */
const RuleHost = z
  .string()
  .min(1)
  .max(limits.maxUrlLength)
  .transform((text, context) => {
    const beneath = text.startsWith('*.');
    const name = beneath ? text.slice(2) : text;
    const host = /[/?#@\\\s*]/.test(name) ? null : requestHost(`https://${name}/`);
    if (host !== null) return beneath ? `*.${host}` : host;
    context.addIssue({ code: 'custom', message: 'must be a host, with :port where it is not the usual one, or *.host for all beneath it' });
    return z.NEVER;
  })
  .meta({
    description: 'Host of a request, with `:port` where it is not the usual one. `*.example.com` is all beneath it, itself not.',
    example: 'api.example.com',
  });

const RulePath = z
  .string()
  .refine((path) => path.startsWith('/') && sameResolved(path), {
    message: 'must be an absolute path without . and .. and no / at its end',
  })
  .meta({ description: 'The path and all beneath it.', example: '/tmp' });

const RuleTool = z
  .string()
  .min(1)
  .max(192)
  .refine((name) => !name.includes('*') || /^[a-z][a-z0-9-]{0,31}\.\*$/.test(name), {
    message: 'must be a canonical name, or server.* for all tools of a server',
  })
  .meta({ description: 'Canonical name, or `server.*` for all tools of a server.', example: 'builtin.http_request' });

const DoneEffect = z.enum(['read', 'write', 'destroy', 'send']).meta({
  description:
    'What would be done. `write`: anything is changed; to destroy is to write, too, where a rule denies or asks, and not where it allows. ' +
    '`send`: something leaves the service.',
});
export type DoneEffect = z.infer<typeof DoneEffect>;

/** The kinds of question that are about a path, and about a host. */
const pathKinds: ReadonlySet<AskKind> = new Set(['delete-file', 'overwrite-file', 'write-outside']);
const hostKinds: ReadonlySet<AskKind> = new Set(['network', 'taint']);

/**
 * All members that are given must fit. `deny` goes before `ask`, `ask` before `allow`, `allow` before what is asked about without any rule,
 * wherever they stand. An entry that asks always is not about anything that could be allowed once and for all, so no rule reaches it.
 */
export const PolicyRule = z
  .strictObject({
    decision: z.enum(['allow', 'ask', 'deny']),
    kind: AskKind.exclude(['always', 'rule'])
      .optional()
      .meta({ description: 'What would be asked about. The taint rule is allowed by rules of the kind `taint` only.' }),
    tool: RuleTool.optional(),
    host: RuleHost.optional(),
    method: z
      .string()
      .regex(/^[A-Z]{1,16}$/, { message: 'must be an HTTP method in capitals' })
      .optional()
      .meta({ description: 'Of a request.', example: 'POST' }),
    path: RulePath.optional(),
    effect: DoneEffect.optional(),
    agent: z.string().min(1).max(64).optional().meta({ description: 'Name of the agent whose turn it is.', example: 'support' }),
    key: z.string().min(1).max(64).optional().meta({ description: 'Id of the key that calls.' }),
    secret: z.string().min(1).max(128).optional().meta({ description: 'Name of a secret that would be read.', example: 'GITHUB' }),
    note: z.string().min(1).max(500).optional().meta({ description: 'Why, for who meets the rule. Says nothing to the policy.' }),
  })
  .refine(({ decision: _decision, note: _note, ...said }) => Object.values(said).some((member) => member !== undefined), {
    message: 'must say what it is about: kind, tool, host, method, path, effect, agent, key or secret',
  })
  .refine((rule) => rule.host === undefined || (rule.path === undefined && rule.secret === undefined && fits(rule.kind, hostKinds)), {
    path: ['host'],
    message: 'belongs to the kinds network and taint, and not beside a path or secret: such a rule would never fit',
  })
  .refine((rule) => rule.method === undefined || (rule.path === undefined && rule.secret === undefined && fits(rule.kind, hostKinds)), {
    path: ['method'],
    message: 'belongs to the kinds network and taint, and not beside a path or secret: such a rule would never fit',
  })
  .refine((rule) => rule.path === undefined || (rule.secret === undefined && fits(rule.kind, pathKinds)), {
    path: ['path'],
    message: 'belongs to the kinds delete-file, overwrite-file and write-outside: such a rule would never fit',
  })
  .refine((rule) => rule.secret === undefined || rule.kind === undefined, {
    path: ['secret'],
    message: 'belongs to no kind: nobody is asked about secrets without a rule',
  })
  .meta({ id: 'PolicyRule' });
export type PolicyRule = z.infer<typeof PolicyRule>;

/** The workspace's one policy document. */
export const Policy = z
  .strictObject({
    rules: z.array(PolicyRule).max(limits.maxPolicyRules),
    taint: z
      .enum(['ask', 'off'])
      .optional()
      .meta({
        description:
          'The taint rule: once a conversation has seen both private and untrusted content, sending anything out is asked about. `ask` is usual; ' +
          '`off` is short for a rule `{decision: "allow", kind: "taint"}`. An agent may say otherwise for itself.',
      }),
  })
  .meta({ id: 'Policy', example: { rules: [{ decision: 'allow', kind: 'network', host: 'api.example.com' }] } });
export type Policy = z.infer<typeof Policy>;

/** The rules as they are judged by: `taint: "off"` stands behind them as the rule that it is short for. */
export function rulesOf({ rules, taint }: Policy): PolicyRule[] {
  return taint === 'off' ? [...rules, { decision: 'allow', kind: 'taint' }] : rules;
}

/** In the place of rules that cannot be read: nothing counts as allowed, and what may be denied is asked about. */
export const unreadRules: readonly PolicyRule[] = (['write', 'send'] as const).map((effect) => ({
  decision: 'ask',
  effect,
  note: 'it cannot be read just now, so everything that changes or sends something is asked about',
}));

function fits(kind: AskKind | undefined, kinds: ReadonlySet<AskKind>): boolean {
  return kind === undefined || kinds.has(kind);
}

function sameResolved(path: string): boolean {
  const resolved = resolvePath(path, '/');
  return resolved.ok && resolved.path === path;
}
