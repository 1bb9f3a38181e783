/**
 * Files and batches of OpenAI's API (API reference, November 2026). The ids of replies are signed for their key
 * (`provider-ids.ts`). Nothing is stored here.
 */
import { isRecord, recordOf, tryParse } from '../../core/json/wire-value.ts';
import { MB } from '../../core/limits/units.ts';
import { coversPattern } from '../../core/model/model-name.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import type { Principal } from '../../core/people/principal.ts';
import { invalidRequest, Problem, quoted } from '../../core/problem.ts';
import { nameHolder } from '../../core/usage-limits.ts';
import { readModelRules } from '../../engine/plan/plan-models.ts';
import { readLimits } from '../../engine/plan/turn-limits.ts';
import { startMeter } from '../../engine/proxy/call-meter.ts';
import { countsUse } from '../../engine/proxy/reserve-request.ts';
import { readBounded } from '../../net/read-bounded.ts';
import { malformedProblem } from '../provider-error.ts';
import { withoutKey } from '../provider-secrets.ts';
import type { ProxyDeps } from '../proxy.ts';
import { answerHeaders } from './forward-chat.ts';
import { ofFirstKey } from '../provider-exchange.ts';
import { openHead } from '../transport.ts';
import { openAiKinds } from './passed-request.ts';
import { type IdSeal, openId, sealId } from './provider-ids.ts';

/** `id`: as a reply here had it. `provider`: that the request names. `body`: a form as it arrives, with its content type, or the members of a batch. */
export type FileRequest = {
  of: 'files' | 'batches';
  method: 'GET' | 'POST' | 'DELETE';
  id?: string;
  action?: 'content' | 'cancel';
  provider?: string | undefined;
  body?: { form: ReadableStream<Uint8Array>; contentType: string; length: string | null } | Readonly<Record<string, unknown>>;
  requestId?: string | undefined;
};

type Deps = ProxyDeps & { ids: ProxyDeps['ids']; fileIds: IdSeal };

/** What OpenAI accepts. */
export const maxFileBytes = 512 * MB;
const maxAnswerBytes = 1 * MB;

/** Throws `Problem` for everything but success. */
export async function passFiles(deps: Deps, principal: Principal, request: FileRequest): Promise<Response> {
  const { outbound: http, clock } = deps;
  const { of, method, id, action, body, requestId } = request;
  const own = id === undefined ? null : await openId(deps.fileIds, principal, id);
  const input = isForm(body) ? null : await inputOf(deps, principal, body);
  const { provider = request.provider } = own ?? input ?? {};
  if (request.provider !== undefined && provider !== request.provider)
    throw invalidRequest([{ path: 'provider', message: `the id is of ${quoted(provider ?? '')}: omit the provider` }]);
  const access = ofFirstKey(await chooseProvider(deps, principal, provider, of));
  if (of === 'batches' && method === 'POST' && action === undefined) await requireNoUseLimits(deps, principal);
  const path = `/${[of, ...(own === null ? [] : [encodeURIComponent(own.id)]), ...(action === undefined ? [] : [action])].join('/')}`;
  const meter = startMeter(deps, { principal, ref: `${access.name}/${of}`, requestId, dialect: null, isModel: false }, access);
  try {
    const form = isForm(body) ? boundedForm(body) : null;
    const headers = { accept: '*/*', ...(isForm(body) && { 'content-type': body.contentType }) };
    const exchange = { access, model: '', path, method, headers, body: form?.stream ?? input?.body ?? null };
    const response = await openHead({ http, clock }, exchange, { isWhole: true, ...(form?.signal && { signal: form.signal }) }).catch(
      (error: unknown) => {
        throw form?.fault() ?? error;
      },
    );
    const late = form?.fault() ?? null;
    if (late !== null) throw late;
    const shown = await answerHeaders(access, response);
    const answered = action === 'content' ? response.body : await ownReply(deps, principal, access, response);
    meter.end();
    return new Response(answered, { status: 200, headers: shown });
  } catch (error) {
    meter.fail(error);
    throw error;
  }
}

function isForm(body: FileRequest['body']): body is Extract<FileRequest['body'], { form: unknown }> {
  return body !== undefined && body.form instanceof ReadableStream;
}

/** Returns a batch with the provider's id of its file. */
async function inputOf({ fileIds }: Deps, principal: Principal, body: Readonly<Record<string, unknown>> | undefined) {
  if (body === undefined) return null;
  const { input_file_id: file } = body;
  if (typeof file !== 'string') throw invalidRequest([{ path: 'input_file_id', message: 'must be the id of an uploaded file' }]);
  const { provider, id } = await openId(fileIds, principal, file, 'input_file_id');
  return { provider, body: { ...body, input_file_id: id } };
}

/** The only provider with files that all allow-lists allow whole, or the one that is named. */
async function chooseProvider({ directory }: Deps, principal: Principal, named: string | undefined, of: string): Promise<ProviderAccess> {
  const rules = await readModelRules(directory, principal);
  const isAllowed = (name: string): boolean => rules.every(({ models }) => coversPattern(models, `${name}/*`));
  if (named !== undefined) {
    const access = await directory.provider(principal.workspace, named);
    if (!openAiKinds.has(access.kind))
      throw invalidRequest([
        { path: 'provider', message: `${quoted(named)} is of kind ${access.kind}, which has no ${of} here: ${kindsOfFiles}` },
      ]);
    if (isAllowed(named)) return access;
    const detail = `The ${of} of a provider can name any of its models: a list of \`models\` must have ${quoted(`${named}/*`)}. Use another key or provider.`;
    throw new Problem('forbidden', detail, { param: 'provider' });
  }
  const names = (await directory.providers(principal.workspace)).map(({ name }) => name).filter(isAllowed);
  const found = await Promise.all(names.map((name) => directory.provider(principal.workspace, name).catch(() => null)));
  const capable = found.filter((access) => access !== null && openAiKinds.has(access.kind));
  const [only] = capable;
  if (only != null && capable.length === 1) return only;
  const choices = capable.map((access) => access?.name).join(', ');
  const message =
    only == null ? `there is no provider with ${of} for this key: ${kindsOfFiles}` : `name one of ${choices}, or send x-moniker-provider`;
  throw invalidRequest([{ path: 'provider', message }]);
}

const kindsOfFiles = 'those of kind openai, openai-responses and openai-compatible have them';

/** What a batch uses is only known when it has ended. */
async function requireNoUseLimits({ directory }: Deps, principal: Principal): Promise<void> {
  const limited = (await readLimits(directory, principal)).find(({ limits }) => countsUse(limits));
  if (limited === undefined) return;
  const detail = `Batches cannot be counted for the limits of tokens or cost of ${nameHolder(limited)}. Use a key without them.`;
  throw new Problem('forbidden', detail, { of: limited.of, name: limited.name });
}

/** Aborts the request of a form that is too long or breaks off: if only its stream failed, the provider would store what had arrived of it. */
function boundedForm({ form, length }: { form: ReadableStream<Uint8Array>; length: string | null }) {
  const tooLarge = new Problem('body_too_large', `A form may have at most ${maxFileBytes} bytes.`);
  if (length !== null && Number(length) > maxFileBytes) throw tooLarge;
  // The runtime ends a body at its declared length, and sends that on.
  if (length !== null) return { stream: form, signal: undefined, fault: () => null };
  const abort = new AbortController();
  let bytes = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      bytes += piece.byteLength;
      if (bytes <= maxFileBytes) controller.enqueue(piece);
      else controller.error(tooLarge);
    },
  });
  form.pipeTo(counted.writable).catch((error: unknown) => abort.abort(error));
  return { stream: counted.readable, signal: abort.signal, fault: () => (bytes > maxFileBytes ? tooLarge : null) };
}

/** Returns the provider's document with ids for this key. */
async function ownReply({ fileIds }: Deps, principal: Principal, access: ProviderAccess, response: Response): Promise<string> {
  const { bytes, truncated } = await readBounded(response, maxAnswerBytes);
  const document = truncated ? null : tryParse(withoutKey(access, new TextDecoder().decode(bytes)));
  if (!isRecord(document)) throw malformedProblem(access, 'sent no JSON object');
  const own: Record<string, unknown> = { ...document };
  for (const name of ['id', 'input_file_id', 'output_file_id', 'error_file_id']) {
    const id = recordOf(document)[name];
    if (typeof id !== 'string') continue;
    own[name] = await sealId(fileIds, principal, { provider: access.name, id });
  }
  return JSON.stringify(own);
}
