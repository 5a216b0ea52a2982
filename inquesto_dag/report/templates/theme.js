"use strict";
// The theme follows the system until the reader chooses; the choice is kept where the browser allows it.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("inquesto-theme"); } catch { /* storage is off: the system decides */ }
  const apply = () => {
    root.dataset.theme = chosen || (system.matches ? "dark" : "light");
    document.dispatchEvent(new Event("themechange"));
  };
  system.addEventListener("change", apply);
  apply();
  addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme").addEventListener("click", () => {
      chosen = root.dataset.theme === "dark" ? "light" : "dark";
      try { localStorage.setItem("inquesto-theme", chosen); } catch { /* not kept */ }
      apply();
    });
    for (const button of document.querySelectorAll("[data-copy]")) {
      button.addEventListener("click", async () => {
        const text = document.getElementById(button.dataset.copy).textContent.trim();
        try { await navigator.clipboard.writeText(text); } catch {
          const range = document.createRange();
          range.selectNodeContents(document.getElementById(button.dataset.copy));
          getSelection().removeAllRanges();
          getSelection().addRange(range);
          document.execCommand("copy");
        }
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 1400);
      });
    }
  });
})();
