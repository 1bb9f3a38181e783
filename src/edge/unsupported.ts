/** The refusals of an edge handler for what requires Durable Objects, and where that works. */
import { Problem } from '../core/problem.ts';
import type { Authorization } from '../mcp/authorization/authorization.ts';

const elsewhere = 'Deploy Moniker on Cloudflare (npm run deploy) or run it on a machine (moniker start)';

/** `requires`: for programs. */
const requires = { requires: 'durable-objects' };

export function needsStorage(): Problem {
  return new Problem(
    'not_configured',
    `This requires Durable Objects, which an edge handler does not have: sessions, repeats under an Idempotency-Key, files, approvals, webhooks, schedules, usage and audit are stored there. ${elsewhere} to use it.`,
    requires,
  );
}

export function projectIsFixed(): Problem {
  return new Problem(
    'not_configured',
    `An edge handler serves a fixed project and cannot change it. Change the project and deploy it again. ${elsewhere} to change documents over the API.`,
    requires,
  );
}

/** Completes "This requires a person's approval, and this call cannot wait for one." */
export const noApprovals =
  'Calls cannot be approved in an edge handler, which stores nothing; servers, toolsets and the policy are in its project.';

const refuse = (): Promise<never> => Promise.reject(needsStorage());

/** MCP clients use keys here: grants and tokens of OAuth are stored in the Catalog. */
export const noAuthorization: Authorization = { register: refuse, client: refuse, request: refuse, declined: refuse };
