// Written by `convoke hooks install opencode`; `convoke hooks uninstall opencode` takes it away.
//
// Gives an agent its wake-up once after each loss of memory: when a session begins and when it is
// compacted. The session's own history tells whether it is there: a wake-up is a hidden part of a
// user's message, marked with the loss that it answers. What fails is tried again at the next
// prompt, and nothing here ever stands in the way of a session.
import { spawn } from "node:child_process";

const PROGRAM = "convoke";
const PATIENCE_MS = 5000;

/** Tells convoke of an event; resolves to its text, or to nothing whatever goes wrong. */
function tell(event, session, cwd) {
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, ["hook", "opencode", event], {
      cwd,
      stdio: ["pipe", "pipe", "ignore"],
      windowsHide: true,
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
    const chunks = [];
    const end = () => {
      clearTimeout(timer);
      try {
        resolve(JSON.parse(Buffer.concat(chunks).toString("utf8")).context);
      } catch {
        resolve(undefined);
      }
    };
    child.on("error", end);
    child.on("close", end);
    child.stdin.on("error", () => {});
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.stdin.end(JSON.stringify({ session_id: session, cwd }));
  });
}

/** An id as opencode makes them: parts are ordered by it, and ours comes after the prompt. */
let made = 0;
function partId() {
  const time = (BigInt(Date.now()) * 4096n + BigInt(++made % 4096)).toString(16).slice(-12);
  const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const random = () => letters[Math.floor(Math.random() * letters.length)];
  return `prt_${time}${Array.from({ length: 14 }, random).join("")}`;
}

/** The loss that a part answers, if it is ours. */
const lossOf = (part) => part.metadata?.convoke;

/** The last loss of memory in a history: its newest compaction, else the beginning. */
function lastLoss(messages) {
  const compacted = messages.filter((it) => it.parts.some((part) => part.type === "compaction"));
  return compacted.map((it) => it.info.id).sort().at(-1) ?? "start";
}

/** Changes the parts of a message. The title is made from the same object, so it is replaced. */
function change(messages, index, parts) {
  messages[index] = { ...messages[index], parts };
}

export const Convoke = async ({ client, directory }) => {
  const summarizing = new Set(); // sessions whose next request is their summary
  const asked = new Map(); // session -> the prompt at which convoke was last asked
  const unsaved = new Map(); // session -> a part that is not in the history yet
  const kinds = new Map(); // session -> whether a subagent works in it

  async function isSubagent(session) {
    if (!kinds.has(session)) {
      const { data } = await client.session.get({ path: { id: session }, query: { directory } });
      if (!data) return true;
      kinds.set(session, Boolean(data.parentID));
    }
    return kinds.get(session);
  }

  /** Puts a part into the history, and tells convoke that it is there. */
  async function save(part) {
    unsaved.set(part.sessionID, part);
    const { data } = await client._client.patch({
      url: "/session/{sessionID}/message/{messageID}/part/{partID}",
      path: { sessionID: part.sessionID, messageID: part.messageID, partID: part.id },
      query: { directory },
      body: part,
      headers: { "content-type": "application/json" },
    });
    // A route that does not exist answers with success and a page.
    if (data?.id !== part.id) return;
    unsaved.delete(part.sessionID);
    await tell("convoke.saved", part.sessionID, directory);
  }

  /** Takes out what answers an earlier loss; a summary needs none at all. */
  function leaveOut(messages, isStale) {
    messages.forEach(({ parts }, index) => {
      const kept = parts.filter((part) => !lossOf(part) || !isStale(part));
      if (kept.length < parts.length) change(messages, index, kept);
    });
  }

  async function deliver(messages) {
    const newest = messages.findLastIndex(({ info }) => info.role === "user");
    if (newest < 0) return;
    const { id: messageID, sessionID } = messages[newest].info;
    const loss = lastLoss(messages);
    if (summarizing.delete(sessionID)) return leaveOut(messages, () => true);
    leaveOut(messages, (part) => lossOf(part) !== loss);
    if (messages.some(({ parts }) => parts.some(lossOf))) return;
    const left = unsaved.get(sessionID);
    const place = messages.findIndex(({ info }) => info.id === left?.messageID);
    if (left && lossOf(left) === loss && place >= 0) {
      change(messages, place, [...messages[place].parts, left]);
      return save(left);
    }
    if (asked.get(sessionID) === messageID || (await isSubagent(sessionID))) return;
    asked.set(sessionID, messageID);
    const event = loss === "start" ? "session.created" : "session.compacted";
    const text = await tell(event, sessionID, directory);
    if (typeof text !== "string" || !text.trim()) return;
    const metadata = { convoke: loss };
    const part = { id: partId(), sessionID, messageID, type: "text", text, synthetic: true, metadata };
    change(messages, newest, [...messages[newest].parts, part]);
    await save(part);
  }

  return {
    "experimental.session.compacting": async ({ sessionID }) => {
      summarizing.add(sessionID);
    },
    // A summary that was never asked for would leave its mark behind.
    event: async ({ event }) => {
      if (event?.type === "session.compacted") summarizing.delete(event.properties?.sessionID);
    },
    "experimental.chat.messages.transform": async (_, { messages }) => {
      await deliver(messages).catch(() => {});
    },
  };
};
