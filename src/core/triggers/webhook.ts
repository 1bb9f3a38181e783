/**
 * A webhook as an administrator writes it (contract §8): the allowed sender, the events that count, their session, and the agent's input.
 * `engine/triggers/receive-delivery.ts` processes deliveries.
 */
import * as z from 'zod';
import { ResourceName } from '../turn/agent.ts';
import { limits } from '../limits/limits.ts';
import { CallbackShape, SigningSecret, TriggerShape } from './callbacks/callback.ts';

/** Enough for the secrets in use during a rotation, and a few old ones. */
const maxWebhookSecrets = 5;
const maxFilterLength = 4_000;

export const WebhookScheme = z.enum(['standard', 'github', 'stripe', 'slack', 'hmac', 'bearer']).meta({ id: 'WebhookScheme' });
export type WebhookScheme = z.infer<typeof WebhookScheme>;

const HeaderName = z
  .string()
  .max(limits.maxHeaderNameLength)
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { message: 'must be a valid header name' })
  .transform((name) => name.toLowerCase());

const IdHeader = HeaderName.optional().meta({
  description: 'The header that contains the id of the delivery. Absent: an identical request counts as a repeat.',
});

/** For a sender with a custom signature. */
export const HmacSettings = z
  .strictObject({
    header: HeaderName.meta({ description: 'The header that contains the signature.' }),
    algorithm: z.enum(['sha1', 'sha256', 'sha512']).default('sha256'),
    encoding: z.enum(['hex', 'base64', 'base64url']).default('hex'),
    prefix: z.string().max(100).default('').meta({ description: 'The prefix of the signature in its header, such as `sha256=`.' }),
    signed: z
      .string()
      .max(200)
      .default('{body}')
      .refine((form) => form.split('{body}').length === 2, { message: 'must contain {body} exactly once' })
      .refine((form) => !/\{(?!(?:body|timestamp|id)\})[a-z]+\}/i.test(form), { message: 'supports only {body}, {timestamp} and {id}' })
      .meta({ description: 'The signed text: `{body}`, and optionally `{timestamp}` and `{id}`, as in `{timestamp}.{body}`.' }),
    timestampHeader: HeaderName.optional().meta({
      description:
        'The header that contains the time of sending in seconds. If `signed` contains it, requests older or newer than 5 minutes are rejected.',
    }),
    idHeader: IdHeader,
  })
  .refine(({ signed, timestampHeader }) => !signed.includes('{timestamp}') || timestampHeader !== undefined, {
    path: ['timestampHeader'],
    message: 'is required for {timestamp} in `signed`',
  })
  .refine(({ signed, timestampHeader }) => timestampHeader === undefined || signed.includes('{timestamp}'), {
    path: ['signed'],
    message: 'must contain {timestamp}, because an unsigned time proves nothing',
  })
  .refine(({ signed, idHeader }) => !signed.includes('{id}') || idHeader !== undefined, {
    path: ['idHeader'],
    message: 'is required for {id} in `signed`',
  })
  .meta({ id: 'HmacSettings', example: { header: 'x-signature', algorithm: 'sha256', encoding: 'hex', prefix: 'sha256=' } });
export type HmacSettings = z.infer<typeof HmacSettings>;

export const BearerSettings = z
  .strictObject({
    header: HeaderName.default('authorization').meta({
      description: 'In `authorization` the secret follows `Bearer `; any other header contains the secret only.',
    }),
    idHeader: IdHeader,
  })
  .meta({ id: 'BearerSettings', example: { header: 'x-gitlab-token', idHeader: 'x-gitlab-event-uuid' } });
export type BearerSettings = z.infer<typeof BearerSettings>;

export const Webhook = z
  .strictObject({
    ...TriggerShape,
    agent: ResourceName.meta({ description: 'The agent that runs the turns.' }),
    scheme: WebhookScheme.meta({ description: 'How deliveries are signed.' }),
    secret: z
      .union([SigningSecret, z.array(SigningSecret).min(1).max(maxWebhookSecrets)], {
        error: 'must be a string or a list of strings',
      })
      .optional()
      .meta({
        description:
          'Write-only: one secret, or several during a rotation, all of which are accepted. Required at creation; if absent later, the current ones stay.',
      }),
    hmac: HmacSettings.optional().meta({ description: 'Required for scheme `hmac`, and only valid there.' }),
    bearer: BearerSettings.optional().meta({ description: 'For scheme `bearer`. Absent: `Authorization: Bearer <secret>`.' }),
    filter: z.string().max(maxFilterLength).optional().meta({
      description:
        'CEL over `event`, `payload` and `headers`, such as `event == "issues" && payload.action in ["opened", "edited"]`. Other events are stored as `ignored`, also if a field in the expression is missing; test for it with `has(payload.field)` or `"X-Kind" in headers`.',
    }),
    session: z.string().min(1).max(limits.maxSessionTemplateLength).default('{{@delivery}}').meta({
      description:
        'Template of the session’s key: deliveries with the same key share a session. Different values never make the same key: with `{{a}}:{{b}}`, `:` and `%` in `a` are percent-encoded. Absent: a new session for each delivery.',
    }),
    input: z.string().min(1).max(limits.maxInputTemplateLength).meta({
      description:
        'Template of the agent’s input: `{{path}}`, `{{json path}}`, `{{#each path}}…{{else}}…{{/each}}` with `{{this}}` and `{{@index}}`, `{{#if path}}…{{else}}…{{/if}}`. Values other than a single plain word are put between `<data>` and `</data>`.',
    }),
    respond: z
      .enum(['async', 'sync'])
      .default('async')
      .meta({
        description: `\`sync\`: waits up to ${limits.syncRespondMs / 1000} s and responds with the turn’s text.`,
      }),
    paused: z.boolean().optional().meta({ description: 'Deliveries are stored as `ignored` and can be replayed.' }),
    ...CallbackShape,
  })
  .refine(({ scheme, hmac }) => scheme !== 'hmac' || hmac !== undefined, {
    path: ['hmac'],
    message: 'is required for the scheme `hmac`, as in {"header": "x-signature", "prefix": "sha256="}',
  })
  .refine(({ scheme, hmac }) => scheme === 'hmac' || hmac === undefined, {
    path: ['hmac'],
    message: 'is only valid with the scheme `hmac`',
  })
  .refine(({ scheme, bearer }) => bearer === undefined || scheme === 'bearer', {
    path: ['bearer'],
    message: 'is only valid with the scheme `bearer`',
  })
  .meta({
    id: 'Webhook',
    example: {
      agent: 'demo',
      scheme: 'github',
      secret: 'the secret configured at GitHub',
      filter: 'event == "issues" && payload.action == "opened"',
      session: '{{repository.full_name}}#{{issue.number}}',
      input: 'New issue: {{issue.title}}\n\n{{issue.body}}',
    },
  });
export type Webhook = z.infer<typeof Webhook>;

/** The stored and published document; its secrets are stored separately and encrypted. */
export type WebhookDocument = Omit<Webhook, 'secret' | 'callbackSecret'>;

/** The encrypted secrets of a webhook (JSON). `callback` null: the first secret signs callbacks. */
export type WebhookSecrets = { secrets: string[]; callback: string | null };
