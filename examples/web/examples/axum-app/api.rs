//! The routes, and the JSON that they speak.

use crate::bank::{Bank, Refused};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};

pub(crate) fn router(bank: Bank) -> Router {
    Router::new()
        .route("/accounts/{number}", get(account))
        .route("/transfers", post(transfer))
        .route("/total", get(total))
        .with_state(bank)
}

#[derive(Serialize)]
struct Account {
    account: usize,
    coins: u64,
}

#[derive(Deserialize)]
struct Transfer {
    from: usize,
    to: usize,
    coins: u64,
}

#[derive(Serialize)]
struct Total {
    coins: u64,
}

#[derive(Serialize)]
struct Problem {
    error: String,
}

async fn account(
    State(bank): State<Bank>,
    Path(number): Path<usize>,
) -> Result<Json<Account>, Refused> {
    let coins = bank.balance(number).await?;
    Ok(Json(Account { account: number, coins }))
}

async fn transfer(
    State(bank): State<Bank>,
    Json(Transfer { from, to, coins }): Json<Transfer>,
) -> Result<Json<[Account; 2]>, Refused> {
    let (left, right) = bank.transfer(from, to, coins).await?;
    Ok(Json([Account { account: from, coins: left }, Account { account: to, coins: right }]))
}

async fn total(State(bank): State<Bank>) -> Json<Total> {
    Json(Total { coins: bank.total().await })
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let (status, error) = match self {
            Refused::NoAccount(number) => {
                (StatusCode::NOT_FOUND, format!("there is no account {number}; expected 0 to 999"))
            }
            Refused::TooFew { left } => {
                (StatusCode::CONFLICT, format!("the account has only {left} coins"))
            }
        };
        (status, Json(Problem { error })).into_response()
    }
}
