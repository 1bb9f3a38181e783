/**
 * Decides by which revision a POST is served, and refuses one whose headers and body disagree. A request of 2026-07-28 names its revision
 * and the client's capabilities in `_meta`, and repeats revision, method and name as headers (MCP 2026-07-28, "Streamable HTTP" and
 * "Versioning"). All others are of the 2025 revisions.
 */
import { isRecord } from '../../core/json/wire-value.ts';
import { decodeHeader } from '../../engine/mcp/argument-headers.ts';
import { isId, readMcpMessages, type RpcId, type McpMessage, type RpcNotification, type RpcParams, type RpcRequest } from './messages.ts';
import { isModern, logLevels, metaNames, modernRevision, nameMember } from './revisions.ts';
import { invalidParams, RpcFault, rpcCodes } from './rpc-fault.ts';

/** `isBatch`: the body is a list, which 2026-07-28 does not have. */
export type InboundPost =
  | { era: 'modern'; message: RpcRequest | RpcNotification }
  | { era: 'legacy'; messages: readonly McpMessage[]; isBatch: boolean };

/** `body`: of a POST, parsed. Throws a fault with an HTTP status. */
export function readInbound(headers: Headers, body: unknown): InboundPost {
  const messages = readMcpMessages(body);
  const isBatch = Array.isArray(body);
  const [message] = messages;
  if (message === undefined || isBatch) {
    if (messages.some((one) => one.kind !== 'response' && claimOf(one.params) !== undefined))
      throw badRequest(rpcCodes.invalidRequest, `Bad Request: revision ${modernRevision} has no JSON-RPC batches`);
    if (messages.some((one) => one.kind === 'request' && one.method === 'initialize'))
      throw badRequest(rpcCodes.invalidRequest, 'Invalid Request: an initialize request is the only message of its POST');
    return { era: 'legacy', messages, isBatch };
  }
  return message.kind !== 'response' && isOfModernRevision(headers, message)
    ? { era: 'modern', message }
    : { era: 'legacy', messages, isBatch };
}

/** Returns the id of a message that is refused, for the client to find the request. */
export function idOf(body: unknown): RpcId | null {
  return isRecord(body) && typeof body.method === 'string' && isId(body.id) ? body.id : null;
}

const claimOf = (params: RpcParams): unknown => (isRecord(params._meta) ? params._meta[metaNames.protocolVersion] : undefined);

function isOfModernRevision(headers: Headers, message: RpcRequest | RpcNotification): boolean {
  const { method, params } = message;
  const [header, claim] = [headers.get('mcp-protocol-version'), claimOf(params)];
  const isNamed = header !== null && isModern(header);
  if (claim === undefined) {
    if (!isNamed) return false;
    if (method === 'initialize')
      throw mismatch(`an initialize request has the header of revision ${header}, which has no sessions`, header);
    if (message.kind === 'request') {
      throw badEnvelope(
        `the MCP-Protocol-Version header names revision ${header}, but ${metaNames.protocolVersion} is missing in \`_meta\``,
      );
    }
  }
  if (claim !== undefined) {
    const fault = envelopeFault(params._meta as Record<string, unknown>, message.kind);
    // An `initialize` with a broken claim is a handshake of the 2025 revisions.
    if (fault !== null && method === 'initialize' && !isNamed) return false;
    if (fault !== null) throw badEnvelope(fault);
  }
  const revision = String(claim ?? header);
  if (header !== null && header !== revision) throw mismatch(`the body names revision ${revision}`, header);
  if (revision !== modernRevision) {
    const data = { supported: [modernRevision], requested: revision };
    throw badRequest(rpcCodes.unsupportedRevision, `Unsupported protocol version: ${revision}`, data);
  }
  checkHeaders(headers, message);
  return true;
}

function envelopeFault(meta: Record<string, unknown>, kind: 'request' | 'notification'): string | null {
  const { protocolVersion, clientInfo, clientCapabilities, logLevel } = metaNames;
  if (typeof meta[protocolVersion] !== 'string') return `${protocolVersion}: expected a protocol version string`;
  if (kind === 'notification') return null;
  const { [clientCapabilities]: capabilities, [clientInfo]: info, [logLevel]: level } = meta;
  if (!isRecord(capabilities)) return `${clientCapabilities}: ${capabilities === undefined ? 'missing' : 'expected an object'}`;
  const broken = Object.keys(capabilities).find((name) => !isRecord(capabilities[name]));
  if (broken !== undefined) return `${clientCapabilities}.${broken}: expected an object`;
  if (info !== undefined && !(isRecord(info) && typeof info.name === 'string' && typeof info.version === 'string'))
    return `${clientInfo}: expected an object with \`name\` and \`version\``;
  return level === undefined || logLevels.includes(String(level)) ? null : `${logLevel}: expected one of ${logLevels.join(', ')}`;
}

function checkHeaders(headers: Headers, { kind, method, params }: RpcRequest | RpcNotification): void {
  const [revision, named] = [headers.get('mcp-protocol-version'), headers.get('mcp-method')];
  if (named !== null && named !== method) throw mismatch(`the body names the method ${method}`, named);
  if (kind === 'notification') return;
  if (revision === null) throw mismatch('the required MCP-Protocol-Version header is absent', '(missing)');
  if (named === null) throw mismatch(`the body names the method ${method}, but the required Mcp-Method header is absent`, '(missing)');
  const member = nameMember(method);
  const name = member === null ? undefined : params[member];
  if (typeof name !== 'string') return;
  const header = headers.get('mcp-name');
  if (header === null)
    throw mismatch(`the body has params.${member}=${JSON.stringify(name)}, but the required Mcp-Name header is absent`, '(missing)');
  const decoded = decodeHeader(header);
  if (decoded === null) throw mismatch('the Mcp-Name header has an invalid Base64 value', header);
  if (decoded !== name) throw mismatch(`the body has params.${member}=${JSON.stringify(name)}`, header);
}

/** `header`: what it has, where that may be shown. */
export function mismatch(body: string, header?: string): RpcFault {
  const data = header === undefined ? undefined : { mismatch: { header, body } };
  return badRequest(rpcCodes.headerMismatch, `Bad Request: the request headers and body disagree: ${body}`, data);
}

function badEnvelope(why: string): RpcFault {
  const { code, message } = invalidParams(`Invalid _meta envelope for protocol revision ${modernRevision}: ${why}`);
  return badRequest(code, message);
}

function badRequest(code: number, message: string, data?: unknown): RpcFault {
  return new RpcFault(code, message, data, 400);
}
