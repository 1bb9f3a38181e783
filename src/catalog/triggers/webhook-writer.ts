/**
 * Writing webhooks. What cannot be compiled is refused; what cannot work yet is stored with a warning. Secrets are sealed and never
 * shown; the rest, with the seal, is published for `/hooks`, where it is compiled (`storage/hook-cache.ts`).
 */
import { ResourceName } from '../../core/agent.ts';
import { parseDocument } from '../../core/issues.ts';
import { invalidRequest, Problem } from '../../core/problem.ts';
import type { Issue } from '../../core/problem.ts';
import { compileTemplates } from '../../core/triggers/compile-hook.ts';
import { secretFault, secretWarning } from '../../core/triggers/signatures/create-verifier.ts';
import { Webhook } from '../../core/triggers/webhook.ts';
import type { WebhookDocument, WebhookSecrets } from '../../core/triggers/webhook.ts';
import type { Warning } from '../../core/warning.ts';
import { openValue } from '../../storage/secret-box.ts';
import { eraseTarget } from '../erasure.ts';
import type { CatalogContext } from '../context.ts';
import type { DocumentRow } from '../documents.ts';
import { enqueueLost, enqueuePublish } from '../outbox.ts';
import { reseal } from '../secrets.ts';
import { checkNameInBody } from '../write-document.ts';
import type { DocumentWriter } from '../write-document.ts';
import { agentWarnings, callbackUrlWarnings } from './trigger-warnings.ts';

export const webhookWriter: DocumentWriter = {
  nameFault: (_context, name) => ResourceName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body, previous) => {
    const { secret, callbackSecret, ...document } = parseDocument(Webhook, body);
    checkNameInBody(name, document);
    const issues = [...secretIssues(document, secret, previous), ...(await templateIssues(document))];
    if (issues.length > 0) throw invalidRequest(issues);
    const before = await keptSecrets(context, name, previous, secret !== undefined);
    const given = secret === undefined ? (before?.secrets ?? []) : [secret].flat();
    const secrets: WebhookSecrets = { secrets: given, callback: callbackSecret ?? before?.callback ?? null };
    const hasCallbackSecret = secrets.callback !== null;
    const place = { workspace: context.workspace, kind: 'webhook', name } as const;
    return {
      body: { ...document, name, secrets: given.length, hasCallbackSecret },
      ...(await reseal(context, place, JSON.stringify(secrets), previous)),
      warnings: [
        ...secretWarnings(document, given),
        ...(body.session === undefined ? [noSession] : []),
        ...standingWarnings(context, { ...document, hasCallbackSecret }),
      ],
      commit: (_row, changed) => {
        if (changed) enqueuePublish(context, 'webhook', name);
        // No delivery ever asks here, so this is how one that KV has lost comes back.
        else enqueueLost(context, 'webhook', name);
      },
    };
  },

  // Bodies of webhooks are written above only.
  review: (context, body) => standingWarnings(context, body as StandingWebhook),

  prepareRemoval: async (context, name) => () => {
    enqueuePublish(context, 'webhook', name);
    eraseTarget(context, { kind: 'webhook', name });
  },
};

const noSession: Warning = {
  path: 'session',
  message:
    'Each delivery has a session of its own, which knows nothing of the others. A template such as `{{repository.full_name}}#{{issue.number}}` keeps those together that belong together.',
};

/** A secret of one scheme may be none of another: it is asked for again rather than tried. */
function secretIssues({ scheme }: WebhookDocument, secret: Webhook['secret'], previous: DocumentRow | null): Issue[] {
  if (secret === undefined) {
    if (previous === null) return [{ path: 'secret', message: 'is missing: nothing is taken that is not signed' }];
    return previous.body.scheme === scheme ? [] : [{ path: 'secret', message: 'must be given again, because the scheme is another' }];
  }
  return [secret].flat().flatMap((one, index) => {
    const fault = secretFault(scheme, one);
    return fault === null ? [] : [{ path: Array.isArray(secret) ? `secret[${index}]` : 'secret', message: fault }];
  });
}

async function templateIssues(document: WebhookDocument): Promise<Issue[]> {
  try {
    await compileTemplates(document);
    return [];
  } catch (error) {
    if (error instanceof Problem && Array.isArray(error.extra.issues)) return error.extra.issues as Issue[];
    throw error;
  }
}

function secretWarnings({ scheme }: WebhookDocument, secrets: readonly string[]): Warning[] {
  return secrets.flatMap((secret, index) => {
    const message = secretWarning(scheme, secret);
    return message === null ? [] : [{ path: secrets.length > 1 ? `secret[${index}]` : 'secret', message }];
  });
}

type StandingWebhook = WebhookDocument & { hasCallbackSecret: boolean };

/** What depends on the rest of the workspace and on the settings. */
function standingWarnings(context: CatalogContext, { agent, callbackUrl, hasCallbackSecret }: StandingWebhook): Warning[] {
  return [
    ...agentWarnings(context, agent, 'deliveries fail, and can be replayed'),
    ...callbackUrlWarnings(context, callbackUrl),
    ...(callbackUrl === undefined || hasCallbackSecret ? [] : [sharedSecret]),
  ];
}

const sharedSecret: Warning = {
  path: 'callbackSecret',
  message:
    'Callbacks are signed with the first secret of the webhook, so whoever can check them can also sign deliveries. Give a callbackSecret.',
};

/**
 * Those of before. Sealed under another master key they do not open: then a new secret takes their place, which is how that is mended,
 * and without one the reason is thrown.
 */
async function keptSecrets(
  context: CatalogContext,
  name: string,
  row: DocumentRow | null,
  isReplaced: boolean,
): Promise<WebhookSecrets | null> {
  if (row === null || row.sealed === null) return null;
  try {
    // Sealed above only.
    return JSON.parse(
      await openValue(context.master, { workspace: context.workspace, kind: 'webhook', name }, row.sealed),
    ) as WebhookSecrets;
  } catch (error) {
    if (!isReplaced) throw error;
    return null;
  }
}
