/** The typed client with the key and the workspace of this tab, and what the pages know of failed requests. */
import { computed, signal } from '@preact/signals';
import { createClient, MonikerError } from '../../../client/src/index.ts';
import { jsonRecordOf } from '../text/json.ts';
import { apiKey } from './key.ts';
import { sendRequest } from './request.ts';
import { chosenWorkspace } from './workspace.ts';

/** Until when the service asked this tab to wait, as milliseconds since the epoch. */
export const retryAt = signal(0);

/** Set when the service rejected the key of this tab. */
export const isKeyRejected = signal(false);

async function sendWatched(request: Request): Promise<Response> {
  const response = await sendRequest(request);
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  if (response.status === 429) retryAt.value = Date.now() + (Number.isFinite(seconds) ? seconds * 1_000 : 1_000);
  isKeyRejected.value = response.status === 401;
  return response;
}

export const moniker = computed(() => {
  const workspace = chosenWorkspace.value;
  const headers: Record<string, string> = workspace === null ? {} : { 'x-moniker-workspace': workspace };
  const key = apiKey.value === '' ? {} : { key: apiKey.value };
  return createClient({ baseUrl: location.origin, ...key, headers, fetch: sendWatched, retries: 1 });
});

/** What a page shows of an error, whatever was thrown. */
export type ShownProblem = {
  title: string;
  detail: string;
  code: string | null;
  requestId: string | null;
  status: number;
  issues: readonly { path: string; message: string }[];
  suggestions: readonly string[];
};

export function toShownProblem(error: unknown): ShownProblem {
  if (!(error instanceof MonikerError)) {
    const isNetwork = error instanceof TypeError;
    return {
      title: isNetwork ? 'The service cannot be reached' : 'Something went wrong in this page',
      detail: isNetwork ? 'Check that it runs and that you are connected, then try again.' : String(error),
      ...{ code: null, requestId: null, status: 0, issues: [], suggestions: [] },
    };
  }
  const body = jsonRecordOf(error.body);
  const { code, detail, requestId, status, issues } = error;
  const suggestions = [body.suggestions, body.candidates].flatMap((list) => (Array.isArray(list) ? list : []));
  return {
    title: typeof body.title === 'string' ? body.title : `The request failed with ${status}`,
    ...{ code, detail, requestId, status, issues },
    suggestions: suggestions.filter((one) => typeof one === 'string').slice(0, 6),
  };
}
