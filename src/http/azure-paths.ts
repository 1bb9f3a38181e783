/**
 * The paths of Azure OpenAI, for clients that are configured for it: `/openai/deployments/{deployment}/…`, `/openai/v1/…`, and `/openai/…` of its
 * other resources (Azure OpenAI REST API reference, 2024-10-21 and v1). They are the paths of `/v1/…` with another beginning, so the request is
 * read there: `api-version` is dropped, a key in `api-key` is the bearer key, and the deployment is the model.
 */
import { isRecord } from '../core/json/wire-value.ts';

/** The whole of what is called per deployment. A deployment may be `<provider>/<model>`, encoded or not. */
const ofDeployment =
  /^\/openai\/deployments\/(.+?)\/((?:chat\/)?completions|embeddings|audio\/(?:speech|transcriptions|translations)|images\/(?:generations|edits|variations))$/;
const ofResource = /^\/openai\/(?:v1\/)?((?:audio|batches|chat|embeddings|files|images|models|moderations|responses)(?:\/.*)?)$/;

const deployments = new WeakMap<Request, string>();

/** Returns the request at the path of `/v1/`; null: it has none. */
export function fromAzurePath(request: Request): Request | null {
  const url = new URL(request.url);
  const called = ofDeployment.exec(url.pathname);
  const resource = ofResource.exec(url.pathname);
  const path = called?.[2] ?? resource?.[1];
  const deployment = called?.[1] === undefined ? undefined : decoded(called[1]);
  if (path === undefined || deployment === null) return null;
  url.pathname = `/v1/${path}`;
  url.searchParams.delete('api-version');
  const own = new Request(url, request);
  const key = own.headers.get('api-key');
  if (key !== null && !own.headers.has('authorization')) own.headers.set('authorization', `Bearer ${key}`);
  own.headers.delete('api-key');
  if (deployment !== undefined) deployments.set(own, deployment);
  return own;
}

/** Returns the body with the deployment of its path as the model, which the client may name otherwise in the body, or not at all. */
export function withDeployment(request: Request, body: unknown): unknown {
  const model = deployments.get(request);
  return model !== undefined && isRecord(body) ? { ...body, model } : body;
}

/** The same for a form, which is changed. */
export function nameDeployment(request: Request, form: FormData): FormData {
  const model = deployments.get(request);
  if (model !== undefined) form.set('model', model);
  return form;
}

/** null: it is not encoded as a path is. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
