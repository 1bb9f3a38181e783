/**
 * One rule of a workspace's policy: what is allowed, asked about first, or denied (DESIGN §7). The document that it stands in is `document.ts`;
 * it is judged in `judge.ts`, and what holds without any rule is `questions.ts`. Grows by answers that are remembered (`remember.ts`), too.
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
    description:
      'Host of a request, with `:port` where it is not the usual one. `*.example.com` is all beneath it, itself not. Without a port a rule that denies or asks holds for every port.',
    example: 'api.example.com',
  });

const RulePath = z
  .string()
  .refine((path) => path.startsWith('/') && sameResolved(path), {
    message: 'must be an absolute path without . and .. and no / at its end',
  })
  .refine((path) => !/\/\*+$/.test(path), { message: 'stands for all beneath it as it is: leave out the * at its end' })
  .meta({ description: 'The path and all beneath it.', example: '/tmp' });

const RuleTool = z
  .string()
  .min(1)
  .max(192)
  // A rule with another name of a tool would never fit, and whoever wrote it would not know.
  .refine((name) => /^[a-z][a-z0-9-]{0,31}\.(?:\*|[^*]+)$/.test(name), {
    message: 'must be a canonical name such as builtin.bash, or server.* for all tools of a server',
  })
  .meta({ description: 'Canonical name, or `server.*` for all tools of a server.', example: 'builtin.http_request' });

const DoneEffect = z.enum(['read', 'write', 'destroy', 'send']).meta({
  description:
    'What would be done. `write`: anything is changed; to destroy is to write, too, where a rule denies or asks, and not where it allows. ' +
    '`send`: something leaves the service.',
  example: 'send',
});
export type DoneEffect = z.infer<typeof DoneEffect>;

/** The kinds of question that are about a path, about a host, and about what a workspace has. */
const pathKinds: ReadonlySet<AskKind> = new Set(['delete-file', 'overwrite-file', 'write-outside']);
const hostKinds: ReadonlySet<AskKind> = new Set(['network', 'taint']);
const registryKinds: ReadonlySet<AskKind> = new Set(['registry']);

/**
 * All members that are given must fit. `deny` goes before `ask`, `ask` before `allow`, `allow` before what is asked about without any rule,
 * wherever they stand. An entry that asks always is not about anything that could be allowed once and for all, so no rule reaches it.
 */
export const PolicyRule = z
  .strictObject({
    decision: z.enum(['allow', 'ask', 'deny']).meta({ description: 'What becomes of that which fits.', example: 'deny' }),
    kind: AskKind.exclude(['always', 'rule']).optional().meta({
      description: 'What would be asked about. The taint rule is allowed by rules of the kind `taint` only.',
      example: 'delete-file',
    }),
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
    key: z.string().min(1).max(64).optional().meta({ description: 'Id of the key that calls.', example: 'key_4fmr…' }),
    secret: z.string().min(1).max(128).optional().meta({ description: 'Name of a secret that would be read.', example: 'GITHUB' }),
    name: z.string().min(1).max(192).optional().meta({
      description: 'Name of a toolset, or canonical name of a made tool, that would be changed.',
      example: 'made.find_and_replace',
    }),
    note: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .meta({ description: 'Why, for who meets the rule. Says nothing to the policy.', example: 'reports go by mail' }),
  })
  .refine(({ decision: _decision, note: _note, ...said }) => Object.values(said).some((member) => member !== undefined), {
    message: 'must say what it is about: kind, tool, host, method, path, effect, agent, key, secret or name',
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
  .refine((rule) => rule.secret === undefined || (rule.kind === undefined && rule.decision !== 'allow'), {
    path: ['secret'],
    message: 'belongs to no kind, and to rules that ask or deny: nobody is asked about secrets without a rule',
  })
  .refine((rule) => rule.name === undefined || fits(rule.kind, registryKinds), {
    path: ['name'],
    message: 'belongs to the kind registry: such a rule would never fit',
  })
  .meta({ id: 'PolicyRule', example: { decision: 'deny', tool: 'github.*', effect: 'destroy', note: 'issues are kept' } });
export type PolicyRule = z.infer<typeof PolicyRule>;

function fits(kind: AskKind | undefined, kinds: ReadonlySet<AskKind>): boolean {
  return kind === undefined || kinds.has(kind);
}

function sameResolved(path: string): boolean {
  const resolved = resolvePath(path, '/');
  return resolved.ok && resolved.path === path;
}
