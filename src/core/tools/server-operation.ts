/** How a tool of an OpenAPI server is called: `openapi/` makes it of a document, `http-tools/openapi/` makes requests of it. */

/** Where an operation's argument is sent, and how it is serialized (OpenAPI 3.1, Parameter Object). */
export type OperationParameter = {
  /** The name of the tool's argument. */
  argument: string;
  name: string;
  in: 'path' | 'query' | 'header' | 'cookie';
  style: 'matrix' | 'label' | 'simple' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject';
  explode: boolean;
  /** The value is serialized as JSON. */
  isJson?: true;
};

/** How a tool of an OpenAPI server is called. Part of the definition's pin, so a moved operation is a changed tool. */
export type ServerOperation = {
  method: string;
  /** With `{name}` for each path parameter. */
  path: string;
  /** From the OpenAPI document; absolute. Absent: the server's own document defines it. */
  baseUrl?: string;
  parameters: readonly OperationParameter[];
  /** Names and values that are in the query of each call. */
  query?: readonly (readonly [name: string, value: string])[];
  /** `argument` null: the body is an object whose members are separate arguments, `members` by property name. */
  body: OperationBody | null;
};

export type OperationBody = {
  contentType: string;
  argument: string | null;
  members?: Readonly<Record<string, string>>;
  isRequired: boolean;
  /** For forms: properties that are files, given as base64. */
  files?: readonly string[];
  /** For forms: the content types of properties (Encoding Object). */
  types?: Readonly<Record<string, string>>;
  /** For forms: properties with a non-default style (Encoding Object). */
  styles?: Readonly<Record<string, Pick<OperationParameter, 'style' | 'explode'>>>;
};
