// A real, very small model behind Chat Completions, on this machine only: for lanes that cost nothing.
// README.md says how it is started.

import { createServer } from "node:http";
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { LlamaChatSession, getLlama } from "node-llama-cpp";

const PATH = "/v1/chat/completions";

// An answer needs no more, unless more is asked for.
const MOST_TOKENS = 256;

// A client that waits for its turn gets a comment this often, and does not take the wait for a stall.
const PATIENCE_MS = 2_000;

// No prompt that fits is longer, in bytes.
const LONGEST_BODY = 1024 * 1024;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    port: { type: "string", default: "8099" },
    // More than one wait for each other; where others work too, that is slower than one alone.
    threads: { type: "string", default: "1" },
  },
});
if (positionals.length !== 1) {
  console.error("usage: node server.mjs [--port 8099] [--threads 1] MODEL.gguf");
  process.exit(2);
}
const llama = await getLlama({ gpu: false, build: "never", logLevel: "error" });
const model = await llama.loadModel({ modelPath: positionals[0] });
const name = basename(positionals[0], ".gguf");

// A request that cannot be answered, and why.
class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { status, code });
  }
}

// One answer at a time: two at once would each take twice as long.
let turn = Promise.resolve();

// How many were begun.
let answers = 0;

function inTurn(work) {
  const done = turn.then(work);
  turn = done.catch(() => {});
  return done;
}

async function read(request) {
  let body = "";
  for await (const piece of request) {
    body += piece;
    if (body.length > LONGEST_BODY) throw new Refusal(413, "too_large", "the request is too long");
  }
  try {
    return JSON.parse(body);
  } catch {
    throw new Refusal(400, "invalid_json", "the request is not JSON");
  }
}

// A message is a string, or a list of parts of which some are text.
function text(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => part?.text ?? "").join("");
}

// Returns what came before, and what is asked now.
function conversation(messages) {
  if (!Array.isArray(messages) || messages.at(-1)?.role !== "user") {
    throw new Refusal(400, "invalid_messages", "the last message must be a user's");
  }
  const history = messages.slice(0, -1).map(({ role, content }) => {
    if (role === "assistant") return { type: "model", response: [text(content)] };
    return { type: role === "user" ? "user" : "system", text: text(content) };
  });
  return { history, prompt: text(messages.at(-1).content) };
}

// Refuses what does not fit, before a client waits for it.
function measure({ history, prompt }, most) {
  const words = [prompt, ...history.map((it) => it.text ?? it.response.join(""))];
  const tokens = words.reduce((sum, it) => sum + model.tokenize(it).length, 0);
  if (tokens + most > model.trainContextSize) {
    const room = model.trainContextSize;
    const message = `${tokens} tokens and an answer of ${most} do not fit into ${room}`;
    throw new Refusal(400, "context_length_exceeded", message);
  }
  return { tokens, size: Math.min(model.trainContextSize, tokens + most + 256) };
}

// Answers, and hands on what is said as it comes.
async function answer(talk, { size, most, signal, say }) {
  signal.throwIfAborted();
  const context = await model.createContext({ contextSize: size, threads: Number(options.threads) });
  try {
    const session = new LlamaChatSession({ contextSequence: context.getSequence() });
    session.setChatHistory(talk.history);
    const { responseText, stopReason } = await session.promptWithMeta(talk.prompt, {
      maxTokens: most,
      // Without these it says the same sentence until it is cut off. A client that asks again gets something
      // else, and a server that was started anew tells the same again.
      temperature: 0.7,
      seed: ++answers,
      repeatPenalty: { penalty: 1.2, lastTokens: 256 },
      signal,
      onTextChunk: say,
    });
    return { words: responseText, reason: stopReason === "maxTokens" ? "length" : "stop" };
  } finally {
    await context.dispose();
  }
}

function chunk(choice, usage) {
  const choices = choice ? [{ index: 0, finish_reason: null, ...choice }] : [];
  const created = Math.floor(Date.now() / 1000);
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created, model: name };
  return `data: ${JSON.stringify({ ...head, choices, ...(usage && { usage }) })}\n\n`;
}

async function complete(request, response) {
  const asked = await read(request);
  const most = asked.max_completion_tokens ?? asked.max_tokens ?? MOST_TOKENS;
  const talk = conversation(asked.messages);
  const { tokens, size } = measure(talk, most);
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const usage = (words) => {
    const completion = model.tokenize(words).length;
    return { prompt_tokens: tokens, completion_tokens: completion, total_tokens: tokens + completion };
  };
  const work = (say) => () => answer(talk, { size, most, signal: gone.signal, say });
  if (!asked.stream) {
    const { words, reason } = await inTurn(work(() => {}));
    const message = { role: "assistant", content: words };
    const choices = [{ index: 0, message, finish_reason: reason }];
    return reply(response, 200, { object: "chat.completion", model: name, choices, usage: usage(words) });
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const waiting = setInterval(() => response.write(": waiting\n\n"), PATIENCE_MS);
  try {
    const say = (content) => response.write(chunk({ delta: { role: "assistant", content } }));
    const { words, reason } = await inTurn(work(say));
    response.write(chunk({ delta: {}, finish_reason: reason }));
    if (asked.stream_options?.include_usage) response.write(chunk(null, usage(words)));
    response.end("data: [DONE]\n\n");
  } finally {
    clearInterval(waiting);
  }
}

function reply(response, status, body) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

// Whatever goes wrong costs one answer, never the server.
function refuse(response, error) {
  const body = { error: { code: error.code ?? "server_error", message: error.message } };
  if (response.headersSent) response.end(`data: ${JSON.stringify(body)}\n\n`);
  else reply(response, error.status ?? 500, body);
}

const server = createServer((request, response) => {
  if (request.method === "GET" && request.url === "/v1/models") {
    return reply(response, 200, { object: "list", data: [{ id: name, object: "model" }] });
  }
  if (request.method !== "POST" || request.url !== PATH) {
    return refuse(response, new Refusal(404, "not_found", `there is only ${PATH}`));
  }
  complete(request, response).catch((error) => refuse(response, error));
});
server.listen(Number(options.port), "127.0.0.1", () => {
  console.error(`${name} at http://127.0.0.1:${server.address().port}/v1`);
});
