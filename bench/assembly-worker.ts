/** The assembly readers in workerd: one request is one pass. The clock does not advance during a request, so time is measured from outside. */
import { readers } from './assembly-readers.ts';
import { argumentsJson, cases, segmentsOf } from './assembly-streams.ts';

let prepared: { key: string; segments: Uint8Array[] } | null = null;

export default {
  /** `/<reader>/<case>/<scale>`; with `?prepare` the stream is only built, which is not measured. */
  async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const [readerName = '', name = '', scale = ''] = url.pathname.slice(1).split('/').map(decodeURIComponent);
    const shape = cases[name]?.(Number(scale));
    const reader = readers[readerName];
    if (shape === undefined || reader === undefined) return new Response('unknown reader or case', { status: 404 });
    const key = `${name} ${scale}`;
    if (prepared?.key !== key) prepared = { key, segments: segmentsOf(shape) };
    if (url.searchParams.has('prepare')) {
      const warmUp = segmentsOf({ ...shape, bytes: 2000 });
      for (let pass = 0; pass < 6; pass++) await reader.read(warmUp, shape.wire);
      return new Response('ready');
    }
    const calls = await reader.read(prepared.segments, shape.wire);
    const right = !url.searchParams.has('check') || calls.every((text, index) => text === argumentsJson(shape.bytes, index));
    return right && calls.length === shape.calls ? new Response('right') : new Response(`${readerName} got it wrong`, { status: 500 });
  },
};
