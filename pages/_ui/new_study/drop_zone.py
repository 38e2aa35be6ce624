"""A place to drop a file of any size: the browser streams it to `PUT /upload`, and nobody holds it in memory."""

from __future__ import annotations

import streamlit as st

HTML = """
<div class="zone" role="group">
  <div class="words">
    <span class="what"></span>
    <span class="state" role="status" aria-live="polite"></span>
  </div>
  <button type="button" class="pick">Browse files</button>
  <input type="file" class="file" tabindex="-1" aria-hidden="true">
  <progress class="bar" max="1" value="0" hidden></progress>
</div>
"""

CSS = """
.zone {
  display: flex; flex-wrap: wrap; align-items: center; gap: 0.75rem; padding: 1rem;
  background: var(--st-secondary-background-color); color: var(--st-text-color);
  border: 1px dashed var(--st-border-color); border-radius: var(--st-base-radius);
  font-family: var(--st-font); font-size: 0.95rem;
}
.zone.over { border-color: var(--st-primary-color); }
.words { display: flex; flex-direction: column; flex: 1 1 12rem; min-width: 0; overflow-wrap: anywhere; }
.what { font-weight: 600; }
.pick {
  padding: 0.4rem 0.8rem; font: inherit; cursor: pointer;
  background: var(--st-background-color); color: var(--st-text-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius);
}
.pick:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
.pick[disabled] { cursor: default; }
.file { position: absolute; width: 1px; height: 1px; opacity: 0; pointer-events: none; }
.bar { flex: 1 0 100%; width: 100%; height: 0.4rem; accent-color: var(--st-primary-color); }
"""

JS = """
export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const find = name => parentElement.querySelector(name)
  const zone = find(".zone"), file = find(".file"), pick = find(".pick"), bar = find(".bar"), state = find(".state")
  if (!zone || zone.dataset.busy === "yes") return
  zone.setAttribute("aria-label", data.label)
  find(".what").textContent = data.label
  state.textContent = data.hint
  const megabytes = n => (n / 1e6).toLocaleString("en", { maximumFractionDigits: 0 }) + " MB"

  const send = chosen => {
    if (!chosen) return
    zone.dataset.busy = "yes"
    pick.disabled = true
    bar.hidden = false
    const request = new XMLHttpRequest()
    request.upload.onprogress = event => {
      bar.value = event.total ? event.loaded / event.total : 0
      state.textContent = chosen.name + ": " + megabytes(event.loaded) + " of " + megabytes(event.total)
    }
    const end = said => {
      zone.dataset.busy = "no"
      pick.disabled = false
      bar.hidden = true
      state.textContent = said
      setTriggerValue("done", said)
    }
    request.onload = () => {
      let said = ""
      try { said = JSON.parse(request.responseText).error || "" } catch { said = "" }
      end(request.status === 201 ? chosen.name + " has arrived" : said || "The server refused the file.")
    }
    request.onerror = () => end("The connection broke off. Send the file again.")
    request.open("PUT", "/upload?token=" + data.token + "&name=" + encodeURIComponent(chosen.name))
    request.send(chosen)
  }

  pick.onclick = () => file.click()
  file.onchange = () => send(file.files[0])
  zone.ondragover = event => { event.preventDefault(); zone.classList.add("over") }
  zone.ondragleave = () => zone.classList.remove("over")
  zone.ondrop = event => {
    event.preventDefault()
    zone.classList.remove("over")
    send(event.dataTransfer.files[0])
  }
}
"""

_ZONE = st.components.v2.component("whetstone_drop_zone", html=HTML, css=CSS, js=JS)


def drop_zone(label: str, hint: str, token: str, *, key: str) -> None:
    """Takes one file and streams it under `token`; the page runs again when it has arrived or was refused."""
    _ZONE(key=key, data={"label": label, "hint": hint, "token": token}, on_done_change=lambda: None)
