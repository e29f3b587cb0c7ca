"use strict";

// Names and texts come from strangers: they only ever become text of an element, never HTML.
const $ = (id) => document.getElementById(id);
const element = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });

let socket = null;
let tries = 0;

function line(...parts) {
  const li = document.createElement("li");
  li.append(...parts);
  $("lines").append(li);
  while ($("lines").children.length > 500) $("lines").firstChild.remove();
  li.scrollIntoView({ block: "nearest" });
  return li;
}

function connect() {
  const url = new URL("room/" + encodeURIComponent($("room").value), location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.searchParams.set("name", $("name").value);
  const mine = new WebSocket(url);
  socket = mine;
  mine.onopen = () => {
    tries = 0;
    $("state").textContent = "connected";
  };
  mine.onmessage = (message) => {
    const event = JSON.parse(message.data);
    if (event.missed) line(event.missed + " events missed").className = "note";
    if (event.who) $("who").replaceChildren(...event.who.map((name) => element("li", name)));
    if (event.from) line(element("b", event.from), event.text || "");
  };
  mine.onclose = (closed) => {
    if (socket !== mine) return; // another room
    const wait = Math.min(30, 2 ** tries++) * (0.5 + Math.random()); // not all browsers at once
    $("state").textContent = "closed (" + closed.code + " " + closed.reason + "), again in " + wait.toFixed(0) + " s";
    $("who").replaceChildren();
    setTimeout(() => socket === mine && connect(), wait * 1000);
  };
}

$("enter").onsubmit = (submit) => {
  submit.preventDefault();
  const old = socket;
  socket = null;
  if (old) old.close();
  $("lines").replaceChildren();
  connect();
  $("text").focus();
};

$("say").onsubmit = (submit) => {
  submit.preventDefault();
  if (!socket || socket.readyState !== WebSocket.OPEN || $("text").value === "") return;
  socket.send($("text").value);
  $("text").value = "";
};
