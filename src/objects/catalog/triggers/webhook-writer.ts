/**
 * Writes webhooks. A document that does not compile is rejected; one that cannot work yet is stored with a warning. Secrets are sealed and
 * never shown; the document with its sealed secrets is published for `/hooks`, where it is compiled (`storage/published/hook-cache.ts`).
 */
import { ResourceName } from '../../../core/turn/agent.ts';
import { invalidRequest, type Issue, Problem, type Warning, parseInput } from '../../../core/problem.ts';
import { compileTemplates } from '../../../core/triggers/compiled-hook.ts';
import { secretFault, secretWarning } from '../../../core/triggers/signatures/create-verifier.ts';
import { Webhook, type WebhookDocument, type WebhookSecrets } from '../../../core/triggers/webhook.ts';
import { openValue } from '../../../storage/keys/secret-box.ts';
import { eraseTarget } from '../records/erasure.ts';
import type { CatalogContext } from '../context.ts';
import type { DocumentRow } from '../documents/documents.ts';
import { enqueueRepublish } from '../records/publications.ts';
import { reseal } from '../documents/secrets.ts';
import { checkNameInBody, type DocumentWriter } from '../documents/write-document.ts';
import { agentWarnings, callbackUrlWarnings } from './trigger-warnings.ts';

export const webhookWriter: DocumentWriter = {
  nameFault: (_context, name) => ResourceName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body, previous) => {
    const { secret, callbackSecret, ...document } = parseInput(Webhook, body);
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
        // Deliveries never call this object, so this restores a webhook that is missing in KV.
        if (!changed) enqueueRepublish(context, 'hook', name);
      },
    };
  },

  // Webhook bodies are written only above.
  review: (context, body) => standingWarnings(context, body as StandingWebhook),

  prepareRemoval: async (context, name) => () => eraseTarget(context, { kind: 'webhook', name }),
};

const noSession: Warning = {
  path: 'session',
  message:
    'Each delivery gets a new session without the context of earlier ones. To share a session between related deliveries, set a template such as `{{repository.full_name}}#{{issue.number}}`.',
};

/** A secret for one scheme may be invalid for another, so it must be sent again. */
function secretIssues({ scheme }: WebhookDocument, secret: Webhook['secret'], previous: DocumentRow | null): Issue[] {
  if (secret === undefined) {
    if (previous === null) return [{ path: 'secret', message: 'is required: unsigned deliveries are rejected' }];
    return previous.body.scheme === scheme ? [] : [{ path: 'secret', message: 'is required, because the scheme changes' }];
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

/** Warnings that depend on the rest of the workspace and on the settings. */
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
    'Callbacks are signed with the first secret of the webhook, so a receiver that can verify them can also sign deliveries. Set a callbackSecret.',
};

/**
 * Returns the previous secrets. If they are sealed with another master key, a new secret replaces them, which is the documented fix;
 * without one the error is thrown.
 */
async function keptSecrets(
  context: CatalogContext,
  name: string,
  row: DocumentRow | null,
  isReplaced: boolean,
): Promise<WebhookSecrets | null> {
  if (row === null || row.sealed === null) return null;
  try {
    // Sealed only above.
    return JSON.parse(
      await openValue(context.master, { workspace: context.workspace, kind: 'webhook', name }, row.sealed),
    ) as WebhookSecrets;
  } catch (error) {
    if (!isReplaced) throw error;
    return null;
  }
}
