/** A custom HMAC signature as the document defines it: header, hash, encoding and signed text. One signature per header. */
import { toBase64, toHex } from '../../text/bytes.ts';
import type { HmacSettings } from '../webhook.ts';
import { rejection, type SignatureScheme } from './signature-claim.ts';
import { timeFault } from './signed-time.ts';
import type { SignedRequest } from './verifier.ts';

export function hmacScheme(settings: HmacSettings): SignatureScheme {
  const { header, prefix, timestampHeader, idHeader, signed } = settings;
  return {
    read(request) {
      const given = request.header(header);
      if (!given) return rejection(request, `${header} is missing`);
      if (!given.startsWith(prefix)) return rejection(request, `${header} does not begin with the configured prefix`);
      if (idHeader !== undefined && signed.includes('{id}') && !request.header(idHeader))
        return rejection(request, `${idHeader} is missing`);
      return {
        signed: hmacSigned(settings, request),
        signatures: [oneSpelling(settings, given.slice(prefix.length))],
        fault: timestampHeader === undefined ? null : timeFault(request.header(timestampHeader), request.now),
      };
    },
    write: (digest) => oneSpelling(settings, settings.encoding === 'hex' ? toHex(digest) : toBase64(digest)),
  };
}

/** Returns `signed` with its placeholders filled; the body stays bytes. */
export function hmacSigned(settings: HmacSettings, { header, body }: Pick<SignedRequest, 'header' | 'body'>): (string | Uint8Array)[] {
  return settings.signed.split(/(\{body\}|\{id\}|\{timestamp\})/).map((piece) => {
    if (piece === '{body}') return body;
    if (piece === '{id}') return headerText(header, settings.idHeader);
    return piece === '{timestamp}' ? headerText(header, settings.timestampHeader) : piece;
  });
}

function headerText(header: SignedRequest['header'], name: string | undefined): string {
  return (name === undefined ? null : header(name)) ?? '';
}

/** Senders differ in the case of hex and the padding of base64; both are normalized. */
function oneSpelling({ encoding }: HmacSettings, signature: string): string {
  if (encoding === 'hex') return signature.toLowerCase();
  const unpadded = signature.replace(/={1,2}$/, '');
  return encoding === 'base64' ? unpadded : unpadded.replaceAll('+', '-').replaceAll('/', '_');
}
