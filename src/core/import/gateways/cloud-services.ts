/** What the files of gateways say about clouds: where a model is, and its credentials, which become the JSON of one key. */
import { isCloud } from '../../model/cloud-access.ts';
import type { Json } from '../../json/wire-value.ts';
import type { ProviderKind } from '../../names/provider-kind.ts';
import { onlyVariable, placeholder } from '../../project/expand-variables.ts';

/** A text of a file, and the environment variable that it came from, for the name of its secret. */
export type Credential = { text: string; variable: string | null };

/** What the files may say about each cloud. */
const partsOf = {
  bedrock: ['region', 'accessKeyId', 'secretAccessKey', 'sessionToken'],
  'azure-openai': ['apiVersion', 'tenantId', 'clientId', 'clientSecret'],
  vertex: ['region', 'project', 'serviceAccount'],
} as const;
type Part = (typeof partsOf)[keyof typeof partsOf][number];

/** Each may be missing, and may be a variable. */
export type CloudParts = Partial<Record<Part, Credential | null>>;
/** Under which names a gateway has them. */
export type CloudNames = Readonly<Record<Part, readonly string[]>>;

/** Returns the parts of a cloud; those of other services are left to be reported. */
export function readCloudParts(
  kind: ProviderKind | undefined,
  names: CloudNames,
  read: (...names: readonly string[]) => Credential | null,
): CloudParts {
  const parts: readonly Part[] = kind !== undefined && isCloud(kind) ? partsOf[kind] : [];
  return Object.fromEntries(parts.map((part) => [part, read(...names[part])]));
}

/** `place`: members of the provider. `key` null: the file has none of the cloud's own. */
export type CloudService = { place: Json; key: Credential | null };

export function cloudService(kind: ProviderKind, parts: CloudParts = {}, usesEnvironment = false): CloudService | null {
  const text = (part: Part): string | undefined => parts[part]?.text;
  const json = (value: Json): Credential => ({ text: JSON.stringify(value), variable: null });
  switch (kind) {
    case 'bedrock': {
      const isInFile = parts.accessKeyId != null && parts.secretAccessKey != null;
      const key = {
        AccessKeyId: text('accessKeyId') ?? placeholder('AWS_ACCESS_KEY_ID'),
        SecretAccessKey: text('secretAccessKey') ?? placeholder('AWS_SECRET_ACCESS_KEY'),
        SessionToken: text('sessionToken'),
      };
      return { place: { region: text('region') ?? placeholder('AWS_REGION') }, key: isInFile || usesEnvironment ? json(key) : null };
    }
    case 'azure-openai': {
      const [tenantId, clientId, clientSecret] = [text('tenantId'), text('clientId'), text('clientSecret')];
      const hasClient = tenantId !== undefined && clientId !== undefined && clientSecret !== undefined;
      const apiVersion = text('apiVersion');
      return { place: apiVersion === undefined ? {} : { apiVersion }, key: hasClient ? json({ tenantId, clientId, clientSecret }) : null };
    }
    case 'vertex': {
      const account = text('serviceAccount');
      // The path of a key file, which only its program can read.
      const isPath = account !== undefined && !account.trimStart().startsWith('{') && onlyVariable(account) === null;
      const region = text('region');
      return {
        place: { project: text('project') ?? placeholder('GOOGLE_CLOUD_PROJECT'), ...(region !== undefined && { region }) },
        key: isPath ? { text: '<content of the key file>', variable: null } : (parts.serviceAccount ?? null),
      };
    }
    default:
      return null;
  }
}
