/** The files that `local/build/build-console.ts` built: static assets, which the platform serves to the Worker through a binding. */

/** `path` starts with a slash. `headers`: those of the browser's request, for conditional requests. */
type PageFile = (path: string, headers: Headers) => Promise<Response | null>;

export function createPageFile(assets: { fetch(request: Request): Promise<Response> } | undefined): PageFile {
  return async (path, headers) => {
    if (assets === undefined) return null;
    const condition = headers.get('if-none-match');
    // The host is ignored.
    const request = new Request(
      new URL(path, 'https://assets.invalid'),
      condition === null ? {} : { headers: { 'if-none-match': condition } },
    );
    const response = await assets.fetch(request);
    if (response.status === 200 || response.status === 304) return response;
    await response.body?.cancel();
    return null;
  };
}
