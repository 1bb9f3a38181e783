/** The fields of a request of Gemini's API (types of @google/genai 3.1, Google AI and Vertex AI), and what becomes of each. */
import { carried, dropped, each, type Fields, optional, read, refusedField, served } from '../fields.ts';

const ofService = 'only a provider of this API has it';
const ofPart = 'content has no place for it in other APIs';
const ofTool = 'tools have no place for it in other APIs';
const part = 'contents[].parts[].';
const config = 'generationConfig.';
const declaration = 'tools[].functionDeclarations[].';

export const geminiFields: Fields = {
  ...each('contents systemInstruction tools', read),
  toolset: served,

  [`${config}temperature`]: carried('temperature'),
  [`${config}topP`]: carried('topP'),
  [`${config}topK`]: carried('topK'),
  [`${config}maxOutputTokens`]: carried('maxOutputTokens'),
  [`${config}stopSequences`]: carried('stop'),
  [`${config}seed`]: carried('seed'),
  [`${config}presencePenalty`]: carried('presencePenalty'),
  [`${config}frequencyPenalty`]: carried('frequencyPenalty'),
  [`${config}thinkingConfig.thinkingLevel`]: carried('reasoningEffort'),
  [`${config}thinkingConfig.thinkingBudget`]: carried('reasoningBudget'),
  [`${config}thinkingConfig.includeThoughts`]: served,
  ...each('responseSchema responseJsonSchema', carried('responseFormat'), config),
  [`${config}responseMimeType`]: carried('jsonMode', 'text/plain'),
  [`${config}candidateCount`]: refusedField('must be 1: only a provider of this API has more, without server tools and session', 1),
  [`${config}responseModalities[]`]: dropped('the model decides what its answer has', 'TEXT', 'MODALITY_UNSPECIFIED'),
  ...each('responseLogprobs logprobs', dropped(ofService, false), config),
  ...each('mediaResolution speechConfig imageConfig audioTimestamp enableEnhancedCivicAnswers', dropped(ofService, false), config),
  ...each('routingConfig modelSelectionConfig audioTranscriptionConfig', dropped(ofService), config),
  ...each('mode allowedFunctionNames', carried('toolChoice'), 'toolConfig.functionCallingConfig.'),
  ...each('functionCallingConfig.streamFunctionCallArguments includeServerSideToolInvocations', dropped(ofService, false), 'toolConfig.'),
  'toolConfig.retrievalConfig': dropped(ofService),
  serviceTier: carried('serviceTier', 'unspecified'),
  cachedContent: refusedField('is stored at a provider of this API, and the model would not be sent it: send the content'),
  ...each('safetySettings labels modelArmorConfig generationOutputConfig', dropped(ofService)),
  ...each('store automaticContinuation', dropped(ofService, false)),
  continuationToken: dropped(ofService),

  ...each('role parts', read, 'contents[].'),
  ...each('role parts', read, 'systemInstruction.'),
  ...each('text functionCall functionResponse', read, part),
  [`${part}inlineData`]: carried('image'),
  [`${part}fileData`]: carried('imageUrl'),
  [`${part}thought`]: carried('reasoning', false),
  [`${part}thoughtSignature`]: carried('callSignature'),
  ...each('executableCode codeExecutionResult toolCall toolResponse', dropped('only the provider that created it understands it'), part),
  ...each('videoMetadata mediaResolution partMetadata audioTranscription', dropped(ofPart), part),

  ...each('name description parameters parametersJsonSchema', read, declaration),
  ...each('response responseJsonSchema', dropped(ofTool), declaration),
  [`${declaration}behavior`]: dropped(ofTool, 'BLOCKING', 'UNSPECIFIED'),
  ...each('googleSearch googleSearchRetrieval googleSearch.searchTypes.webSearch', carried('webSearch'), 'tools[].'),
  'tools[].googleSearch.excludeDomains': carried('blockedDomains'),
  'tools[].googleSearch.timeRangeFilter': carried('timeRange'),
  ...each('searchTypes.imageSearch blockingConfidence', dropped(ofService), 'tools[].googleSearch.'),
  'tools[].googleSearchRetrieval.dynamicRetrievalConfig': dropped('the model decides whether it searches'),
  ...each(
    'enterpriseWebSearch parallelAiSearch exaAiSearch urlContext googleMaps codeExecution fileSearch computerUse retrieval externalApi mcpServers',
    optional(
      'the provider has no such tool',
      'is only for a provider of this API, without server tools and session: send functionDeclarations',
    ),
    'tools[].',
  ),
};
